/* SPDX-License-Identifier: MIT */
#include "gs-probe/nvmlapi.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define AT(member) offsetof(struct nvml, member)

/* Of two names for one place the first that exists is taken. */
static const struct symbol {
	const char *name;
	size_t at;
	bool needed;
} symbols[] = {
    {"nvmlInit_v2", AT(init), false},
    {"nvmlInit", AT(init), true},
    {"nvmlDeviceGetCount_v2", AT(count), false},
    {"nvmlDeviceGetCount", AT(count), true},
    {"nvmlDeviceGetHandleByIndex_v2", AT(by_index), false},
    {"nvmlDeviceGetHandleByIndex", AT(by_index), true},
    {"nvmlDeviceGetUUID", AT(uuid), true},
    {"nvmlErrorString", AT(error), false},
    {"nvmlDeviceGetName", AT(name), false},
    {"nvmlDeviceGetPciInfo_v3", AT(pci), false},
    {"nvmlDeviceGetMemoryInfo", AT(memory), false},
    {"nvmlDeviceGetMemoryInfo_v2", AT(memory2), false},
    {"nvmlDeviceGetUtilizationRates", AT(util), false},
    {"nvmlDeviceGetTemperature", AT(temp), false},
    {"nvmlDeviceGetComputeMode", AT(mode), false},
    {"nvmlDeviceGetMigMode", AT(mig), false},
    {"nvmlDeviceGetMaxMigDeviceCount", AT(mig_count), false},
    {"nvmlDeviceGetMigDeviceHandleByIndex", AT(mig_device), false},
    {"nvmlDeviceGetGpuInstanceId", AT(gpu_instance), false},
    {"nvmlDeviceGetComputeInstanceId", AT(compute_instance), false},
    {"nvmlDeviceGetAccountingMode", AT(accounting), false},
    {"nvmlDeviceGetAccountingStats", AT(accounted), false},
    {"nvmlDeviceGetComputeRunningProcesses", AT(procs1[NVML_COMPUTE]), false},
    {"nvmlDeviceGetGraphicsRunningProcesses", AT(procs1[NVML_GRAPHICS]), false},
    {"nvmlDeviceGetMPSComputeRunningProcesses", AT(procs1[NVML_MPS]), false},
    {"nvmlDeviceGetComputeRunningProcesses_v2", AT(procs2[NVML_COMPUTE]),
	false},
    {"nvmlDeviceGetGraphicsRunningProcesses_v2", AT(procs2[NVML_GRAPHICS]),
	false},
    {"nvmlDeviceGetMPSComputeRunningProcesses_v2", AT(procs2[NVML_MPS]), false},
};

/* Pointers to functions are not to be cast from pointers to objects. */
static bool
resolve(struct nvml *n, const struct symbol *s)
{
	char *place = (char *)n + s->at;
	void *had, *found;

	memcpy(&had, place, sizeof(had));
	if (had != NULL)
		return true;
	found = dlsym(n->lib, s->name);
	memcpy(place, &found, sizeof(found));
	return found != NULL || !s->needed;
}

int
nvml_load(struct nvml *n, struct buf *why)
{
	const char *name = getenv("GS_NVML"), *text;
	size_t i;
	int rc;

	*n = (struct nvml){0};
	/* Without the .1 it is a stub of the toolkit, if it is there at all. */
	if (name == NULL || *name == '\0')
		name = "libnvidia-ml.so.1";
	n->lib = dlopen(name, RTLD_NOW | RTLD_LOCAL);
	if (n->lib == NULL) {
		text = dlerror();
		buf_str(why, text != NULL ? text : name);
		return -1;
	}
	for (i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++)
		if (!resolve(n, &symbols[i])) {
			buf_printf(why, "%s: no %s", name, symbols[i].name);
			return -1;
		}
	rc = n->init();
	if (rc == NVML_OK)
		return 0;
	buf_printf(why, "NVML: %s (%d)", nvml_words(n, rc), rc);
	return -1;
}

const char *
nvml_words(const struct nvml *n, int rc)
{
	const char *words = n->error != NULL ? n->error(rc) : NULL;

	return words != NULL ? words : "error";
}
