/* SPDX-License-Identifier: MIT */
/*
 * One look at the machine, as plain data.  A backend fills in what the driver
 * says; what is known of the processes is added later (attrib.h).  A number
 * that nobody told is -1, a string NULL: unknown is never 0.
 */
#ifndef GS_SNAP_H
#define GS_SNAP_H

#include <sys/types.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	MIB_SHIFT = 20 /* drivers tell bytes */
};

enum place {
	PLACE_YES, /* may be shared */
	PLACE_ALONE, /* takes one process at a time */
	PLACE_NO, /* takes none; `why` says it */
};

/* Why a GPU takes no job that is part of a processor. */
#define SNAP_UNIFIED "its memory is the machine's"

struct gpu {
	int64_t index; /* in the driver's order; names nothing for long */
	char *uuid;
	char *name;
	char *bus; /* as sysfs writes it: 0000:c1:00.0 */
	char *mode; /* compute mode in the driver's words */
	char *
	    env; /* NAME=WORD that makes a program use it; NULL: its index does */
	char *why; /* why it takes no job, or why a number is unknown */
	int64_t total; /* MiB */
	int64_t used;
	int64_t free;
	int64_t reserved; /* neither used nor free */
	int64_t util; /* percent */
	int64_t temp; /* degrees Celsius */
	int64_t parent; /* index of the GPU that it is a part of */
	enum place place;
};

struct gproc {
	size_t gpu; /* position in the snapshot */
	pid_t pid;
	int64_t used; /* MiB on that GPU */
	char *type; /* C: compute */
	char *comm; /* its name, as the backend has it */
	/* From here on: not the backend's to fill in, unless it tells all. */
	int64_t pgid;
	int64_t sid;
	int64_t start;
	int64_t peak;
	char *user;
	char *job; /* NULL: foreign */
};

/* What the list of processes is worth. */
enum procs {
	PROCS_KNOWN,
	PROCS_HIDDEN, /* some rows of it may not be read */
	PROCS_FOREIGN, /* pids of another pid namespace */
	PROCS_UNKNOWN, /* there is none */
};

struct snap {
	struct gpu *gpu;
	size_t ngpu;
	struct gproc *proc;
	size_t nproc;
	enum procs procs;
};

/* Append a GPU of which nothing is known.  Good until the next one. */
struct gpu *snap_gpu(struct snap *s);

/*
 * The process on that GPU; appended if it is not there yet.  Some drivers
 * list one twice.
 */
struct gproc *snap_proc(struct snap *s, size_t gpu, pid_t pid);

/* Position of the GPU; -1 if it is not there. */
ssize_t snap_by_uuid(const struct snap *s, const char *uuid);
ssize_t snap_by_index(const struct snap *s, int64_t index);

/* Keep only the GPUs at those positions, in that order. */
void snap_keep(struct snap *s, const size_t *pos, size_t n);

/* Take back what was appended since there were that many. */
void snap_cut(struct snap *s, size_t ngpu, size_t nproc);

void snap_free(struct snap *s);

/* The words of the records. */
const char *place_name(enum place p);
int place_parse(const char *word); /* -1 */
const char *procs_name(enum procs p); /* NULL for PROCS_KNOWN */
int procs_parse(const char *word); /* NULL: PROCS_KNOWN; -1 */

#endif
