/* SPDX-License-Identifier: MIT */
/*
 * Which logs speak of a GPU that was out of memory.
 *
 * - A table of literals, each with others that must stand on the same line or
 *   must not.  They name the class of the error together with its sentence,
 *   because errors that were caught are printed without the class.
 * - The last strong line decides: programs go on after an error, and what ends
 *   them stands below it.  A line that says the program recovered takes back
 *   what was before it.
 * - Colours are dropped, and lines that are quoted text or source are skipped.
 * - An allocation larger than the card, or than any card, is a corrupt size or
 *   a job for another machine: more room would not help.
 */
#include "lib/oom.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/buf.h"

enum kind {
	STRONG,
	CANCEL,
	VETO,
	WEAK
};

struct pattern {
	enum kind kind;
	const char *has;
	const char *and; /* NULL: nothing more */
	const char * not ;
};

static const struct pattern patterns[] = {
    {STRONG, "out of memory. Tried to allocate",
	"OutOfMemoryError: ", "Skipping batch"},
    {STRONG, "RuntimeError: CUDA out of memory. Tried to allocate", NULL,
	"Skipping batch"},
    {STRONG, "RuntimeError: HIP out of memory. Tried to allocate", NULL, NULL},
    {STRONG, "RuntimeError: XPU out of memory. Tried to allocate", NULL, NULL},
    {STRONG, "CUDA error: out of memory", NULL, NULL},
    {STRONG, "HIP error: out of memory", NULL, NULL},
    {STRONG, "CUBLAS_STATUS_ALLOC_FAILED", NULL, NULL},
    {STRONG, "CUDNN_STATUS_ALLOC_FAILED", NULL, NULL},
    {STRONG, "RESOURCE_EXHAUSTED: Out of memory while trying to allocate", NULL,
	NULL},
    {STRONG, "RESOURCE_EXHAUSTED: Failed to allocate request for", NULL, NULL},
    {STRONG, "Resource exhausted: Out of memory while trying to allocate", NULL,
	NULL},
    {STRONG, "OOM when allocating tensor with shape", "by allocator GPU_",
	NULL},
    {STRONG, "CUDA_ERROR_OUT_OF_MEMORY", NULL, NULL},
    {STRONG, "HIP_ERROR_OutOfMemory", NULL, NULL},
    {STRONG, "cupy.cuda.memory.OutOfMemoryError: Out of memory allocating",
	NULL, NULL},
    {STRONG, "std::bad_alloc: out_of_memory: ", NULL, NULL},
    {STRONG, "ValueError: No available memory for the cache blocks", NULL,
	NULL},
    {STRONG, "on startup is less than desired GPU memory utilization", NULL,
	NULL},
    {STRONG, "cudaMalloc failed: out of memory", NULL, NULL},
    {STRONG, "cudaMalloc retry failed: out of memory", NULL, NULL},
    {STRONG, "ErrorOutOfDeviceMemory", NULL, NULL},
    {STRONG, "Cuda Runtime (out of memory)", NULL, NULL},
    {STRONG, "OutOfMemory (no further information)", NULL, NULL},
    {STRONG, "Cuda Error in allocate: 2 (out of memory)", NULL, NULL},
    {STRONG, "BFCArena::AllocateRawInternal",
	"Failed to allocate memory for requested buffer of size", NULL},
    {STRONG, "NCCL WARN Cuda failure", "out of memory", NULL},
    {STRONG, "Out of memory error on GPU", "Cannot allocate", NULL},
    {STRONG, "System is out of GPU", NULL, NULL},
    {STRONG, "Out of memory in cu", NULL, NULL},
    {STRONG, "Out of GPU memory trying to allocate", NULL, NULL},
    {STRONG, "cudaErrorMemoryAllocation", NULL, NULL},
    {STRONG, "UR_RESULT_ERROR_OUT_OF_DEVICE_MEMORY", NULL, NULL},
    {CANCEL, "retrying without pipeline parallelism", NULL, NULL},
    {CANCEL, "Created device", "MB memory", NULL},
    {VETO, "out of memory. Tried to allocate more than 1EB", NULL, NULL},
    {WEAK, "CUBLAS_STATUS_NOT_INITIALIZED", NULL, NULL},
    {WEAK, "CUDNN_STATUS_NOT_INITIALIZED", NULL, NULL},
    {WEAK, "ncclUnhandledCudaError", NULL, NULL},
    {WEAK, "attempting to recover from OOM", NULL, NULL},
};

/* What a size stands behind; `skip` leads from there to the number. */
struct lead {
	const char *before;
	const char *skip;
};

static const struct lead requests[] = {
    {"ried to allocate ", NULL},
    {"rying to allocate ", NULL},
    {"ailed to allocate request for ", NULL},
    {"ailed to allocate ", NULL},
    {"buffer of size ", NULL},
    {"Out of memory allocating ", NULL},
    {"Cannot allocate ", NULL},
    {"memory utilization (", ", "},
    {": allocating ", NULL},
};

static const struct lead capacities[] = {
    {"total capacity of ", NULL},
    {"total capacty of ", NULL}, /* as one release spells it */
    {"(GPU ", "; "},
};

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static const double MIB_ABSURD = 16.0 * 1024 * 1024;

/* NULL if it is not in the line, else what follows it. */
static const char *
behind(const struct buf *line, const char *from, const char *word)
{
	size_t left = line->len - (size_t)(from - line->p);
	const char *at = memmem(from, left, word, strlen(word));

	return at != NULL ? at + strlen(word) : NULL;
}

static bool
has(const struct buf *line, const char *word)
{
	return word != NULL && behind(line, line->p, word) != NULL;
}

static bool
matches(const struct buf *line, const struct pattern *p)
{
	return has(line, p->has) && (p->and == NULL || has(line, p->and)) &&
	    !has(line, p->not );
}

/* The unit behind a number, in MiB; without one the number is bytes. */
static double
unit(const char *s)
{
	while (*s == ' ')
		s++;
	switch (*s) {
	case 'T':
		return 1024.0 * 1024;
	case 'G':
		return 1024;
	case 'M':
		return 1;
	case 'K':
	case 'k':
		return 1.0 / 1024;
	default:
		return 1.0 / 1024 / 1024;
	}
}

/* "4.00 GiB", "2.20G", "25,600,000 bytes" in MiB, rounded up; -1. */
static int64_t
size_parse(const char *s)
{
	char digits[40];
	size_t n = 0;
	int64_t whole;
	double v;

	if (!isdigit((unsigned char)*s))
		return -1;
	for (; isdigit((unsigned char)*s) || *s == ',' || *s == '.'; s++)
		if (*s != ',' && n < sizeof(digits) - 1)
			digits[n++] = *s;
	digits[n] = '\0';
	v = strtod(digits, NULL) * unit(s);
	if (v > (double)(INT64_C(1) << 50))
		return INT64_C(1) << 50;
	whole = (int64_t)v;
	return (double)whole < v ? whole + 1 : whole;
}

static int64_t
size_find(const struct buf *line, const struct lead *lead, size_t n)
{
	const char *at;
	int64_t v;
	size_t i;

	for (i = 0; i < n; i++) {
		at = behind(line, line->p, lead[i].before);
		if (at != NULL && lead[i].skip != NULL)
			at = behind(line, at, lead[i].skip);
		if (at != NULL && (v = size_parse(at)) >= 0)
			return v;
	}
	return -1;
}

static void
strong(struct oom *o, const struct buf *line)
{
	int64_t requested = size_find(line, requests, COUNT(requests));
	int64_t capacity = size_find(line, capacities, COUNT(capacities));

	o->class = OOM_YES;
	if (requested >= 0)
		o->requested_mib = requested;
	if (capacity >= 0)
		o->capacity_mib = capacity;
}

/* One line, without colours and end. */
static void
line_scan(const struct buf *line, struct oom *o, bool *weak)
{
	const struct pattern *p;

	for (p = patterns; p < patterns + COUNT(patterns); p++) {
		if (!matches(line, p))
			continue;
		switch (p->kind) {
		case STRONG:
			strong(o, line);
			break;
		case CANCEL:
			*o = (struct oom){OOM_NO, -1, -1};
			break;
		case VETO:
			o->class = OOM_ABSURD;
			break;
		case WEAK:
			*weak = true;
			break;
		}
	}
}

/* Append a line without the colours that terminals take. */
static void
clean(struct buf *b, const char *s, size_t n)
{
	size_t i, from;

	for (i = from = 0; i < n; i++) {
		if (s[i] != '\033' || i + 1 >= n || s[i + 1] != '[')
			continue;
		buf_add(b, s + from, i - from);
		for (i += 2; i < n &&
		     (isdigit((unsigned char)s[i]) || s[i] == ';' ||
			 s[i] == '?');
		     i++)
			;
		from = i + 1;
	}
	if (from < n)
		buf_add(b, s + from, n - from);
}

/* A line of source in a traceback, or of a text that is quoted. */
static bool
is_quoted(const struct buf *line, bool after_file)
{
	if (line->p[0] == '>' || line->p[0] == '#')
		return true;
	return after_file && strncmp(line->p, "    ", 4) == 0;
}

struct oom
oom_scan(const char *text, size_t n)
{
	struct oom o = {OOM_NO, -1, -1};
	bool weak = false, after_file = false;
	struct buf line = {0};
	size_t i, from;

	for (i = from = 0; i <= n; i++) {
		if (i < n && text[i] != '\n' && text[i] != '\r')
			continue;
		buf_reset(&line);
		clean(&line, text + from, i - from);
		from = i + 1;
		if (line.len == 0)
			continue;
		if (!is_quoted(&line, after_file))
			line_scan(&line, &o, &weak);
		after_file = strncmp(line.p, "  File \"", 8) == 0;
	}
	buf_free(&line);
	if (o.class == OOM_YES &&
	    ((double)o.requested_mib > MIB_ABSURD ||
		(o.capacity_mib > 0 && o.requested_mib > o.capacity_mib)))
		o.class = OOM_ABSURD;
	if (o.class == OOM_NO && weak)
		o.class = OOM_WEAK;
	return o;
}

const char *
oom_name(enum oom_class c)
{
	static const char *const name[] = {"no", "weak", "absurd", "oom"};

	return name[c];
}
