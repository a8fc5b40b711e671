/* SPDX-License-Identifier: MIT */
/*
 * What gs-probe uses of NVIDIA's management library, declared by ourselves:
 * the library comes with the driver, its header only with the toolkit.
 * Layouts are those of API 13 on 64-bit machines; what differs between
 * releases is said beside it.
 */
#ifndef GS_NVMLAPI_H
#define GS_NVMLAPI_H

#include <stdint.h>

#include "lib/buf.h"

enum nvml_rc {
	NVML_OK = 0,
	NVML_NOT_SUPPORTED = 3,
	NVML_TOO_SMALL = 7,
	NVML_LOST = 15,
	NVML_RESET_REQUIRED = 16,
};

enum nvml_list {
	NVML_COMPUTE,
	NVML_GRAPHICS,
	NVML_MPS,
	NVML_LISTS
};

enum nvml_mode {
	NVML_DEFAULT,
	NVML_EXCLUSIVE_THREAD, /* gone since CUDA 8 */
	NVML_PROHIBITED,
	NVML_EXCLUSIVE_PROCESS,
};

#define NVML_NO_INSTANCE UINT32_MAX
#define NVML_NO_VALUE	 UINT64_MAX

typedef void *nvml_device;

/* Used contains what the driver reserves. */
struct nvml_memory {
	uint64_t total;
	uint64_t free;
	uint64_t used;
};

/* Since R510; `version` is to be set. */
struct nvml_memory2 {
	uint32_t version;
	uint64_t total;
	uint64_t reserved;
	uint64_t free;
	uint64_t used;
};

#define NVML_MEMORY2 ((uint32_t)sizeof(struct nvml_memory2) | 2U << 24)

/* The entries of lists without a suffix. */
struct nvml_proc1 {
	uint32_t pid;
	uint64_t used;
};

/*
 * Those of _v2 (R450).  _v3 had others behind the same name in some releases
 * (535.43 to 535.86), so it is not used.
 */
struct nvml_proc2 {
	uint32_t pid;
	uint64_t used;
	uint32_t gpu_instance;
	uint32_t compute_instance;
};

struct nvml_pci {
	char legacy[16];
	uint32_t domain, bus, device, ids, subsystem;
	char id[32]; /* 00000000:C1:00.0 */
};

struct nvml_util {
	uint32_t gpu; /* percent */
	uint32_t memory;
};

struct nvml_accounting {
	uint32_t util, memory_util;
	uint64_t peak; /* bytes */
	uint64_t time, started;
	uint32_t running, reserved[5];
};

/* The library.  What it lacks is NULL; the first group is always there. */
struct nvml {
	void *lib;
	int (*init)(void);
	int (*count)(unsigned int *);
	int (*by_index)(unsigned int, nvml_device *);
	int (*uuid)(nvml_device, char *, unsigned int);

	const char *(*error)(int);
	int (*name)(nvml_device, char *, unsigned int);
	int (*pci)(nvml_device, struct nvml_pci *);
	int (*memory)(nvml_device, struct nvml_memory *);
	int (*memory2)(nvml_device, struct nvml_memory2 *);
	int (*util)(nvml_device, struct nvml_util *);
	int (*temp)(nvml_device, int sensor, unsigned int *);
	int (*mode)(nvml_device, int *);
	int (*mig)(nvml_device, unsigned int *now, unsigned int *pending);
	int (*mig_count)(nvml_device, unsigned int *);
	int (*mig_device)(nvml_device, unsigned int, nvml_device *);
	int (*gpu_instance)(nvml_device, unsigned int *);
	int (*compute_instance)(nvml_device, unsigned int *);
	int (*accounting)(nvml_device, int *on);
	int (*accounted)(nvml_device, unsigned int, struct nvml_accounting *);
	int (*procs1[NVML_LISTS])(
	    nvml_device, unsigned int *, struct nvml_proc1 *);
	int (*procs2[NVML_LISTS])(
	    nvml_device, unsigned int *, struct nvml_proc2 *);
};

/* Load the library and initialise it.  -1 with the reason in *why. */
int nvml_load(struct nvml *n, struct buf *why);

/* The words of a return code; static storage. */
const char *nvml_words(const struct nvml *n, int rc);

#endif
