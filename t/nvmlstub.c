/* SPDX-License-Identifier: MIT */
/*
 * A libnvidia-ml.so.1 that plays the scenario which GS_FAKE_NVML names:
 *
 *	count N			instead of the number of gpu lines
 *	init RC			what nvmlInit answers
 *	banner stdout		print to stdout on init
 *	hang SYMBOL, crash SYMBOL
 *	swap A B after N	exchange two cards after N enumerations
 *	grow I LIST A B		the list has A entries for who has less room
 *	gpu I uuid=... bus=... total=BYTES reserved= used= free= util= mode=
 *	    mig=ns|0|1 handle_rc= mem_rc= mem2_rc= util_rc= procs_rc= name=...
 *	proc I list=compute|graphics|mps pid= mem=BYTES gi= ci=
 *	inst I gi= ci= uuid=... total= reserved= used= free= name=...
 *
 * Other lines say nothing to it.  The scenario is read again whenever the
 * cards are counted.  Which of the calls exist is decided when it is built:
 * WITHOUT_V2, WITHOUT_MEMORY2.
 */
#include <ctype.h>
#include <err.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Declared once more, so that a slip in those of gs-probe is noticed. */
typedef void *nvml_device;

struct memory {
	unsigned long long total, free, used;
};

struct memory2 {
	unsigned int version;
	unsigned long long total, reserved, free, used;
};

struct proc1 {
	unsigned int pid;
	unsigned long long used;
};

struct proc2 {
	unsigned int pid;
	unsigned long long used;
	unsigned int gi, ci;
};

struct pci {
	char legacy[16];
	unsigned int numbers[5];
	char id[32];
};

struct util {
	unsigned int gpu, memory;
};

struct accounting {
	unsigned int util, memory_util;
	unsigned long long peak, time, started;
	unsigned int running, reserved[5];
};

_Static_assert(sizeof(struct memory2) == 40, "as version 2 says of itself");
_Static_assert(sizeof(struct proc1) == 16, "up to CUDA 10");
_Static_assert(sizeof(struct proc2) == 24, "since R450");
_Static_assert(sizeof(struct pci) == 68, "version 3");

enum {
	MAX = 512,
	OK = 0,
	NOT_SUPPORTED = 3,
	NOT_FOUND = 6,
	TOO_SMALL = 7,
	LOST = 15,
	RESET_REQUIRED = 16,
};

struct card {
	char line[1024]; /* all of its words */
	bool instance;
	int parent;
};

static struct {
	struct card card[MAX];
	int ncard;
	char proc[MAX][256];
	int nproc;
	char hang[128], crash[128];
	int count, init, swap_a, swap_b, swap_after;
	bool banner;
	int passes;
} sc;

/* The value of `key=` in a line: up to a blank, but a name to its end. */
static bool
value(const char *line, const char *key, char *out, size_t size)
{
	char want[32];
	const char *at;
	size_t n;

	snprintf(want, sizeof(want), " %s=", key);
	at = strstr(line, want);
	if (at == NULL)
		return false;
	at += strlen(want);
	n = strcmp(key, "name") == 0 ? strcspn(at, "\n") : strcspn(at, " \n");
	snprintf(out, size, "%.*s", (int)n, at);
	return true;
}

static uint64_t
number(const char *line, const char *key, uint64_t absent)
{
	char text[64];

	if (!value(line, key, text, sizeof(text)))
		return absent;
	if (strcmp(text, "unknown") == 0)
		return UINT64_MAX;
	return (uint64_t)strtonum(text, 0, INT64_MAX, NULL);
}

static int
word_number(char **rest)
{
	char *w = strsep(rest, " \n");

	return w == NULL ? 0 : (int)strtonum(w, 0, INT32_MAX, NULL);
}

static void
take_line(char *line)
{
	char whole[1024], *rest = line, *verb;

	snprintf(whole, sizeof(whole), "%s", line);
	verb = strsep(&rest, " \n");
	if (rest == NULL)
		return;
	if (strcmp(verb, "gpu") == 0 || strcmp(verb, "inst") == 0) {
		snprintf(sc.card[sc.ncard].line, sizeof(whole), "%s", whole);
		sc.card[sc.ncard].instance = verb[0] == 'i';
		sc.card[sc.ncard++].parent = word_number(&rest);
	} else if (strcmp(verb, "proc") == 0) {
		snprintf(
		    sc.proc[sc.nproc++], sizeof(sc.proc[0]), "%.255s", whole);
	} else if (strcmp(verb, "count") == 0) {
		sc.count = word_number(&rest);
	} else if (strcmp(verb, "init") == 0) {
		sc.init = word_number(&rest);
	} else if (strcmp(verb, "banner") == 0) {
		sc.banner = true;
	} else if (strcmp(verb, "hang") == 0) {
		snprintf(sc.hang, sizeof(sc.hang), "%s", strsep(&rest, " \n"));
	} else if (strcmp(verb, "crash") == 0) {
		snprintf(
		    sc.crash, sizeof(sc.crash), "%s", strsep(&rest, " \n"));
	} else if (strcmp(verb, "swap") == 0) {
		sc.swap_a = word_number(&rest);
		sc.swap_b = word_number(&rest);
		strsep(&rest, " ");
		sc.swap_after = word_number(&rest);
	}
}

static void
scenario(void)
{
	const char *path = getenv("GS_FAKE_NVML");
	int passes = sc.passes;
	char line[1024];
	FILE *f;

	memset(&sc, 0, sizeof(sc));
	sc.passes = passes;
	sc.count = sc.swap_a = -1;
	if (path == NULL || (f = fopen(path, "re")) == NULL)
		err(1, "GS_FAKE_NVML");
	while (fgets(line, sizeof(line), f) != NULL)
		take_line(line);
	fclose(f);
}

/* Hang or crash, if the scenario has it for this call. */
static void
trouble(const char *symbol)
{
	size_t n = strcspn(symbol, "_");

	if (strncmp(sc.crash, symbol, n) == 0 && sc.crash[0] != '\0')
		raise(SIGSEGV);
	if (strncmp(sc.hang, symbol, n) == 0 && sc.hang[0] != '\0')
		for (;;)
			pause();
}

static const char *
line_of(nvml_device d)
{
	return ((struct card *)d)->line;
}

static int
rc_of(nvml_device d, const char *key)
{
	return (int)number(line_of(d), key, OK);
}

int nvmlInit_v2(void);
int nvmlDeviceGetCount_v2(unsigned int *);
int nvmlDeviceGetHandleByIndex_v2(unsigned int, nvml_device *);
int nvmlDeviceGetUUID(nvml_device, char *, unsigned int);
int nvmlDeviceGetName(nvml_device, char *, unsigned int);
int nvmlDeviceGetPciInfo_v3(nvml_device, struct pci *);
int nvmlDeviceGetMemoryInfo(nvml_device, struct memory *);
int nvmlDeviceGetMemoryInfo_v2(nvml_device, struct memory2 *);
int nvmlDeviceGetUtilizationRates(nvml_device, struct util *);
int nvmlDeviceGetComputeMode(nvml_device, int *);
int nvmlDeviceGetMigMode(nvml_device, unsigned int *, unsigned int *);
int nvmlDeviceGetMaxMigDeviceCount(nvml_device, unsigned int *);
int nvmlDeviceGetMigDeviceHandleByIndex(
    nvml_device, unsigned int, nvml_device *);
int nvmlDeviceGetGpuInstanceId(nvml_device, unsigned int *);
int nvmlDeviceGetComputeInstanceId(nvml_device, unsigned int *);
int nvmlDeviceGetAccountingMode(nvml_device, int *);
int nvmlDeviceGetAccountingStats(
    nvml_device, unsigned int, struct accounting *);
const char *nvmlErrorString(int);

int
nvmlInit_v2(void)
{
	scenario();
	trouble("nvmlInit_v2");
	if (sc.banner) {
		puts("WARNING: this is a stub library");
		fflush(stdout);
	}
	return sc.init;
}

const char *
nvmlErrorString(int rc)
{
	switch (rc) {
	case NOT_SUPPORTED:
		return "Not Supported";
	case 4:
		return "Insufficient Permissions";
	case 9:
		return "Driver Not Loaded";
	case LOST:
		return "GPU is lost";
	case RESET_REQUIRED:
		return "GPU requires reset";
	default:
		return "Unknown Error";
	}
}

int
nvmlDeviceGetCount_v2(unsigned int *n)
{
	int i;

	scenario();
	sc.passes++;
	for (*n = 0, i = 0; i < sc.ncard; i++)
		*n += !sc.card[i].instance;
	if (sc.count >= 0)
		*n = (unsigned int)sc.count;
	return OK;
}

int
nvmlDeviceGetHandleByIndex_v2(unsigned int index, nvml_device *d)
{
	int i, want = (int)index;

	if (sc.swap_a != -1 && sc.passes > sc.swap_after) {
		if (want == sc.swap_a)
			want = sc.swap_b;
		else if (want == sc.swap_b)
			want = sc.swap_a;
	}
	for (i = 0; i < sc.ncard; i++)
		if (!sc.card[i].instance && want-- == 0) {
			*d = &sc.card[i];
			return rc_of(*d, "handle_rc");
		}
	return NOT_FOUND;
}

int
nvmlDeviceGetUUID(nvml_device d, char *out, unsigned int size)
{
	return value(line_of(d), "uuid", out, size) ? OK : NOT_SUPPORTED;
}

int
nvmlDeviceGetName(nvml_device d, char *out, unsigned int size)
{
	return value(line_of(d), "name", out, size) ? OK : NOT_SUPPORTED;
}

int
nvmlDeviceGetPciInfo_v3(nvml_device d, struct pci *pci)
{
	return value(line_of(d), "bus", pci->id, sizeof(pci->id))
	    ? OK
	    : NOT_SUPPORTED;
}

int
nvmlDeviceGetMemoryInfo(nvml_device d, struct memory *m)
{
	const char *line = line_of(d);

	m->total = number(line, "total", 0);
	m->free = number(line, "free", 0);
	m->used = number(line, "used", 0) + number(line, "reserved", 0);
	return rc_of(d, "mem_rc");
}

#ifndef WITHOUT_MEMORY2
int
nvmlDeviceGetMemoryInfo_v2(nvml_device d, struct memory2 *m)
{
	const char *line = line_of(d);

	if (m->version != 0x02000028)
		return 25;
	m->total = number(line, "total", 0);
	m->reserved = number(line, "reserved", 0);
	m->free = number(line, "free", 0);
	m->used = number(line, "used", 0);
	return rc_of(d, "mem2_rc");
}
#endif

int
nvmlDeviceGetUtilizationRates(nvml_device d, struct util *u)
{
	u->gpu = (uint32_t)number(line_of(d), "util", 0);
	return ((struct card *)d)->instance ? NOT_SUPPORTED
					    : rc_of(d, "util_rc");
}

int
nvmlDeviceGetComputeMode(nvml_device d, int *mode)
{
	*mode = (int)number(line_of(d), "mode", 0);
	return OK;
}

int
nvmlDeviceGetMigMode(nvml_device d, unsigned int *now, unsigned int *pending)
{
	char mig[8] = "ns";

	value(line_of(d), "mig", mig, sizeof(mig));
	*now = *pending = mig[0] == '1';
	return mig[0] == 'n' ? NOT_SUPPORTED : OK;
}

int
nvmlDeviceGetMaxMigDeviceCount(nvml_device d, unsigned int *n)
{
	(void)d;
	*n = 7;
	return OK;
}

int
nvmlDeviceGetMigDeviceHandleByIndex(
    nvml_device d, unsigned int index, nvml_device *out)
{
	int parent = ((struct card *)d)->parent, i;

	for (i = 0; i < sc.ncard; i++)
		if (sc.card[i].instance && sc.card[i].parent == parent &&
		    index-- == 0) {
			*out = &sc.card[i];
			return OK;
		}
	return NOT_FOUND;
}

int
nvmlDeviceGetGpuInstanceId(nvml_device d, unsigned int *id)
{
	*id = (unsigned int)number(line_of(d), "gi", UINT32_MAX);
	return OK;
}

int
nvmlDeviceGetComputeInstanceId(nvml_device d, unsigned int *id)
{
	*id = (unsigned int)number(line_of(d), "ci", UINT32_MAX);
	return OK;
}

int
nvmlDeviceGetAccountingMode(nvml_device d, int *on)
{
	*on = (int)number(line_of(d), "accounting", 0);
	return OK;
}

/* Its peak is what a proc line says as peak=. */
int
nvmlDeviceGetAccountingStats(
    nvml_device d, unsigned int pid, struct accounting *a)
{
	int i;

	for (i = 0; i < sc.nproc; i++)
		if (number(sc.proc[i], "pid", 0) == pid &&
		    number(sc.proc[i], "peak", 0) > 0) {
			memset(a, 0, sizeof(*a));
			a->peak = number(sc.proc[i], "peak", 0);
			return OK;
		}
	(void)d;
	return NOT_FOUND;
}

/* The k-th process of a list of the card; NULL behind the last. */
static const char *
entry(nvml_device d, const char *list, unsigned int k)
{
	struct card *c = d;
	char head[32], of[16];
	int i;

	snprintf(head, sizeof(head), "proc %d ", c->parent);
	for (i = 0; i < sc.nproc; i++)
		if (strncmp(sc.proc[i], head, strlen(head)) == 0 &&
		    value(sc.proc[i], "list", of, sizeof(of)) &&
		    strcmp(of, list) == 0 && k-- == 0)
			return sc.proc[i];
	return NULL;
}

/* Fill in entries of `size` bytes, as that release of the library would. */
static int
fill(nvml_device d, const char *list, unsigned int *n, void *out, size_t size)
{
	unsigned int room = *n, k;
	struct proc2 p;
	const char *line;

	if (((struct card *)d)->instance)
		return NOT_SUPPORTED;
	if (rc_of(d, "procs_rc") != OK)
		return rc_of(d, "procs_rc");
	for (k = 0; (line = entry(d, list, k)) != NULL; k++) {
		if (k >= room)
			continue;
		p = (struct proc2){
		    (uint32_t)number(line, "pid", 0),
		    number(line, "mem", 0),
		    (uint32_t)number(line, "gi", UINT32_MAX),
		    (uint32_t)number(line, "ci", UINT32_MAX),
		};
		memcpy((char *)out + k * size, &p, size);
	}
	*n = k;
	return k > room ? TOO_SMALL : OK;
}

#define LIST(symbol, type, list)                                               \
	int symbol(nvml_device, unsigned int *, struct type *);                \
	int symbol(nvml_device d, unsigned int *n, struct type *out)           \
	{                                                                      \
		trouble(#symbol);                                              \
		return fill(d, list, n, out, sizeof(*out));                    \
	}

LIST(nvmlDeviceGetComputeRunningProcesses, proc1, "compute")
LIST(nvmlDeviceGetGraphicsRunningProcesses, proc1, "graphics")
LIST(nvmlDeviceGetMPSComputeRunningProcesses, proc1, "mps")
#ifndef WITHOUT_V2
LIST(nvmlDeviceGetComputeRunningProcesses_v2, proc2, "compute")
LIST(nvmlDeviceGetGraphicsRunningProcesses_v2, proc2, "graphics")
LIST(nvmlDeviceGetMPSComputeRunningProcesses_v2, proc2, "mps")
#endif
