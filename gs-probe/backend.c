/* SPDX-License-Identifier: MIT */
#include "gs-probe/backend.h"

#include <string.h>

#include "gs-probe/amdgpu.h"
#include "gs-probe/file.h"
#include "gs-probe/nvml.h"
#include "gs-probe/sim.h"
#include "gs-probe/smi.h"

const struct backend *const backends[] = {
    &nvml_backend,
    &smi_backend,
    &amdgpu_backend,
    &sim_backend,
    &file_backend,
    NULL,
};

const struct backend *
backend_find(const char *spec, const char **arg)
{
	size_t len = strcspn(spec, ":"), i;

	*arg = spec[len] == ':' ? spec + len + 1 : NULL;
	for (i = 0; backends[i] != NULL; i++)
		if (strlen(backends[i]->name) == len &&
		    strncmp(backends[i]->name, spec, len) == 0)
			return backends[i];
	return NULL;
}
