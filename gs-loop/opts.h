/* SPDX-License-Identifier: MIT */
/* The command line of gs-loop. */
#ifndef GS_LOOP_OPTS_H
#define GS_LOOP_OPTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Words that only other programs compute with are checked here, so that a
 * mistake ends gs-loop at its start, and are passed on as they were written.
 */
struct opts {
	const char *jobs; /* the jobs file */
	const char *log_dir;
	const char *gpus; /* NULL: all */
	const char *sim; /* N or NxSIZE; NULL: real GPUs */
	const char *backend; /* NULL: gs-probe chooses */
	const char **gpu_mem; /* GPU=SIZE, for gs-probe */
	size_t ngpu_mem;
	const char *policy; /* NULL: gs-place's own default */
	const char *margin; /* NULL, likewise, for these four */
	const char *idle_threshold;
	const char *spike_buffer;
	const char *slots;
	const char *shared_gpu;
	const char *probe; /* commands that stand in for the programs; NULL */
	const char *place;
	const char *launch;
	int64_t tolerance_ppm;
	int64_t poll_ms;
	int64_t grace_ms;
	int64_t board_lines;
	int64_t oom_retries; /* of a line that does not say */
	int64_t max_fails; /* 0: any number */
	bool exclusive;
	bool watch;
	bool fresh;
	bool verbose;
};

/* Parse, or end the program: 0 after --help and --version, 2 on a mistake. */
void opts_parse(struct opts *o, int argc, char **argv);

#endif
