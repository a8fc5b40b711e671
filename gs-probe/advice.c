/* SPDX-License-Identifier: MIT */
#include "gs-probe/advice.h"

#include <stddef.h>
#include <string.h>

const char *
advice_nvidia(const char *why)
{
	static const struct {
		const char *text;
		const char *advice;
	} known[] = {
	    {"cannot open shared object",
		"install the library of the NVIDIA driver, or name it with "
		"GS_NVML"},
	    {"Driver Not Loaded", "load the kernel module: modprobe nvidia"},
	    {"crashed", "the driver's library crashed: reinstall the driver"},
	    {"No such file",
		"install the tools of the NVIDIA driver, or "
		"name nvidia-smi with GS_SMI"},
	    {"communicate with the NVIDIA driver",
		"load the kernel module: modprobe nvidia"},
	    {"version mismatch",
		"the driver was upgraded under its loaded "
		"module: reload the module, or reboot"},
	    {"Insufficient Permissions",
		"you may not open /dev/nvidiactl: ask for its group"},
	    {"libnvidia-ml", "install the library of the NVIDIA driver"},
	    {"NVML: Unknown Error",
		"a container that lost its devices: restart it"},
	    {"No devices", "the driver sees no GPU: see lspci and dmesg"},
	    {"lost", "see dmesg for Xid lines; the card needs a reboot"},
	    {"timeout",
		"see dmesg for Xid lines, or give a larger "
		"--timeout"},
	    {"cannot be killed", "the driver hangs: reboot"},
	    {"signal",
		"the driver's library crashed: reinstall the "
		"driver"},
	};
	size_t i;

	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (strcasestr(why, known[i].text) != NULL)
			return known[i].advice;
	return NULL;
}
