/* SPDX-License-Identifier: MIT */
#include "gs-launch/environ.h"

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/buf.h"
#include "lib/xalloc.h"

enum {
	ENV_FILE_MAX = 4 * 1024 * 1024
};

/* Set it, or remove it where the value is not known. */
static void
set(const char *name, const char *value)
{
	if ((value == NULL ? unsetenv(name) : setenv(name, value, 1)) == -1)
		err(xalloc_status, "memory");
}

static void
set_int(const char *name, int64_t v)
{
	char digits[24];

	snprintf(digits, sizeof(digits), "%" PRId64, v);
	set(name, v < 0 ? NULL : digits);
}

/* The entries of b, each ended by `end`.  -1 with the number of a bad one. */
static int
entries_set(struct buf *b, char end, size_t *bad)
{
	char *s, *eq, *next;
	size_t n = 0;

	for (s = b->p; s < b->p + b->len; s = next) {
		n++;
		next = memchr(s, end, (size_t)(b->p + b->len - s));
		if (next == NULL)
			next = b->p + b->len;
		*next++ = '\0';
		if (*s == '\0')
			continue;
		eq = strchr(s, '=');
		if (eq == NULL || eq == s) {
			*bad = n;
			return -1;
		}
		*eq = '\0';
		set(s, eq + 1);
	}
	return 0;
}

static int
file_load(const char *path, struct refusal *why)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK), rv;
	struct buf b = {0};
	size_t bad = 0;

	if (fd == -1)
		return refuse(why, "env", "%s: %s", path, strerror(errno));
	rv = buf_read_all(&b, fd, ENV_FILE_MAX);
	if (rv == -1)
		refuse(why, "env", "%s: %s", path, strerror(errno));
	close(fd);
	if (rv == 0) {
		clearenv();
		rv = entries_set(&b,
		    b.len > 0 && memchr(b.p, '\0', b.len) ? '\0' : '\n', &bad);
		if (rv == -1)
			refuse(why, "env", "%s: entry %zu: not NAME=VALUE",
			    path, bad);
	}
	buf_free(&b);
	return rv;
}

/* The folder of a file, with no link or dot in it; NULL if it is not there.
 * To be freed. */
static char *
folder(const char *path)
{
	char *copy, *slash, *dir;

	if (path == NULL)
		return NULL;
	copy = xstrdup(path);
	slash = strrchr(copy, '/');
	if (slash != NULL)
		slash[slash == copy] = '\0';
	dir = realpath(slash != NULL ? copy : ".", NULL);
	free(copy);
	return dir;
}

/*
 * Let the job see its GPUs and no others.  The variables of AMD filter one
 * behind the other, so with one of them set the others have to go.
 */
static void
show_gpus(const struct launch *l)
{
	static const char *const amd[] = {"ROCR_VISIBLE_DEVICES",
	    "HIP_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL",
	    "CUDA_VISIBLE_DEVICES"};
	char *name;
	size_t i;

	if (l->mask == NULL) {
		if (l->gpus != NULL)
			set("CUDA_VISIBLE_DEVICES", l->gpus);
		return;
	}
	name = xstrndup(l->mask, strcspn(l->mask, "="));
	for (i = 0;
	     strcmp(name, amd[0]) == 0 && i < sizeof(amd) / sizeof(amd[0]); i++)
		set(amd[i], NULL);
	set(name, strchr(l->mask, '=') + 1);
	free(name);
}

int
environ_shape(const struct launch *l, struct refusal *why)
{
	char *dir;

	if (l->env != NULL && file_load(l->env, why) == -1)
		return -1;
	show_gpus(l);
	if (getenv("CUDA_DEVICE_ORDER") == NULL)
		set("CUDA_DEVICE_ORDER", "PCI_BUS_ID");
	set("GS_JOB", l->id);
	set_int("GS_NO", l->no);
	set_int("GS_ATTEMPT", l->attempt);
	set("GS_GPUS", l->gpus);
	set_int("GS_VRAM_MIB", l->vram_mib);
	dir = folder(l->journal);
	set("GS_LOG_DIR", dir);
	free(dir);
	return 0;
}
