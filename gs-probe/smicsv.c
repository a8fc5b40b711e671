/* SPDX-License-Identifier: MIT */
/*
 * The text of nvidia-smi.
 *
 * - A cell is a number or it is unknown.  The words in its place ([N/A],
 *   [GPU is lost], ...) change with every driver, so they are kept as a
 *   reason and not looked up in a list; only a card that is lost or wants a
 *   reset is told apart, since to CUDA it is gone while its numbers may look
 *   like those of a free one.
 * - Messages come on the same stream as rows and may hold commas, so a row
 *   is a line with the right number of cells and a number for an index.
 * - A text that was cut may end inside a number: without its newline the last
 *   line is no row.
 */
#include "gs-probe/smicsv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/unit.h"
#include "lib/xalloc.h"
#include "gs-probe/snap.h"

static const char *const field_name[SMI_FIELDS] = {
    [SMI_INDEX] = "index",
    [SMI_UUID] = "uuid",
    [SMI_BUS] = "pci.bus_id",
    [SMI_NAME] = "name",
    [SMI_TOTAL] = "memory.total",
    [SMI_RESERVED] = "memory.reserved",
    [SMI_USED] = "memory.used",
    [SMI_FREE] = "memory.free",
    [SMI_UTIL] = "utilization.gpu",
    [SMI_MODE] = "compute_mode",
    [SMI_MIG] = "mig.mode.current",
    [SMI_TEMP] = "temperature.gpu",
};

const char smicsv_apps[] = "gpu_uuid,pid,used_gpu_memory,process_name";

void
smicsv_columns(struct buf *b, const struct smi_cols *c)
{
	int f;

	for (f = 0; f < SMI_FIELDS; f++)
		if (!c->off[f])
			buf_printf(b, "%s%s", f > 0 ? "," : "", field_name[f]);
}

bool
smicsv_drop(struct smi_cols *c, const char *text)
{
	size_t len;
	int f;

	if (strstr(text, "is not a valid field to query") == NULL)
		return false;
	text = strchr(text, '"');
	if (text == NULL)
		return false;
	len = strcspn(++text, "\"");
	for (f = SMI_BUS; f < SMI_FIELDS; f++)
		if (!c->off[f] && strlen(field_name[f]) == len &&
		    strncmp(field_name[f], text, len) == 0) {
			c->off[f] = true;
			return true;
		}
	return false;
}

/* Without the blanks around it, in place. */
static char *
trim(char *s)
{
	size_t len;

	s += strspn(s, " ");
	for (len = strlen(s); len > 0 && s[len - 1] == ' '; len--)
		s[len - 1] = '\0';
	return s;
}

static int64_t
number(const char *cell)
{
	const char *errstr;

	return cell == NULL ? -1 : unit_num(cell, 0, INT64_MAX, &errstr);
}

static bool
is_word(const char *cell)
{
	size_t len = strlen(cell);

	return len == 0 || strcmp(cell, "N/A") == 0 ||
	    (cell[0] == '[' && cell[len - 1] == ']');
}

/* A text cell; NULL if a word stands in its place. */
static char *
text(const char *cell)
{
	return cell == NULL || is_word(cell) ? NULL : xstrdup(cell);
}

/* The word itself, without its brackets. */
static char *
bare(const char *cell)
{
	size_t len = strlen(cell);

	if (len >= 2 && cell[0] == '[' && cell[len - 1] == ']')
		return xstrndup(cell + 1, len - 2);
	return xstrdup(cell);
}

/* 00000000:C1:00.0 as sysfs writes it: 0000:c1:00.0. */
static char *
bus(const char *cell)
{
	unsigned domain, b, dev, fn;
	int end = 0;

	if (cell == NULL ||
	    sscanf(cell, "%8x:%2x:%2x.%1x%n", &domain, &b, &dev, &fn, &end) !=
		4 ||
	    cell[end] != '\0')
		return NULL;
	return xasprintf("%04x:%02x:%02x.%x", domain, b, dev, fn);
}

/*
 * Cut a line into cells.  A name with commas of its own is what is left
 * between the cells before it and those behind it.
 */
static int
cells(char *line, const struct smi_cols *c, char *cell[SMI_FIELDS])
{
	int f, back;
	char *comma;

	for (back = SMI_FIELDS - 1; back > SMI_NAME; back--) {
		cell[back] = NULL;
		if (c->off[back])
			continue;
		comma = strrchr(line, ',');
		if (comma == NULL)
			return -1;
		*comma = '\0';
		cell[back] = trim(comma + 1);
	}
	for (f = 0; f < SMI_NAME; f++) {
		cell[f] = NULL;
		if (c->off[f])
			continue;
		comma = strchr(line, ',');
		if (comma == NULL)
			return -1;
		*comma = '\0';
		cell[f] = trim(line);
		line = comma + 1;
	}
	cell[SMI_NAME] = c->off[SMI_NAME] ? NULL : trim(line);
	return 0;
}

/* The word of a card that CUDA cannot use any more, whatever else it says. */
static const char *
broken(char *const cell[SMI_FIELDS])
{
	int f;

	for (f = SMI_TOTAL; f < SMI_FIELDS; f++)
		if (cell[f] != NULL && number(cell[f]) == -1 &&
		    (strcasestr(cell[f], "lost") != NULL ||
			strcasestr(cell[f], "reset") != NULL))
			return cell[f];
	return NULL;
}

static void
judge(struct gpu *g, char *const cell[SMI_FIELDS])
{
	static const int wanted[] = {SMI_TOTAL, SMI_USED, SMI_UTIL};
	const char *mode = g->mode != NULL ? g->mode : "", *word;
	const char *mig = cell[SMI_MIG];
	size_t i;

	if (strncasecmp(mode, "Exclusive", 9) == 0)
		g->place = PLACE_ALONE;
	if (mig != NULL && strcasecmp(mig, "Enabled") == 0)
		g->why = xstrdup("MIG is enabled");
	else if (strcasecmp(mode, "Prohibited") == 0)
		g->why = xstrdup("compute mode is Prohibited");
	if ((word = broken(cell)) != NULL) {
		free(g->why);
		g->why = bare(word);
	}
	if (g->why != NULL)
		g->place = PLACE_NO;
	for (i = 0; g->why == NULL && i < 3; i++) {
		word = cell[wanted[i]];
		if (word != NULL && number(word) == -1)
			g->why = bare(word);
	}
}

static int
gpu_row(struct snap *s, char *line, const struct smi_cols *c)
{
	char *cell[SMI_FIELDS];
	struct gpu *g;

	if (cells(line, c, cell) == -1 || number(cell[SMI_INDEX]) < 0)
		return -1;
	g = snap_gpu(s);
	g->index = number(cell[SMI_INDEX]);
	g->uuid = text(cell[SMI_UUID]);
	g->bus = bus(cell[SMI_BUS]);
	g->name = text(cell[SMI_NAME]);
	g->mode = text(cell[SMI_MODE]);
	g->total = number(cell[SMI_TOTAL]);
	g->used = number(cell[SMI_USED]);
	g->free = number(cell[SMI_FREE]);
	g->reserved = number(cell[SMI_RESERVED]);
	/* Older drivers do not name it, but leave it out of the others. */
	if (g->reserved == -1 && g->total >= 0 && g->used >= 0 &&
	    g->free >= 0 && g->total - g->used - g->free > 1)
		g->reserved = g->total - g->used - g->free;
	g->util = number(cell[SMI_UTIL]);
	g->temp = number(cell[SMI_TEMP]);
	judge(g, cell);
	return 0;
}

/* The first three cells and the rest. */
static int
proc_row(struct snap *s, char *line)
{
	char *cell[3], *comma, *name;
	struct gproc *p;
	int64_t pid, used;
	ssize_t gpu;
	int i;

	for (i = 0; i < 3; i++, line = comma + 1) {
		comma = strchr(line, ',');
		if (comma == NULL)
			return -1;
		*comma = '\0';
		cell[i] = trim(line);
	}
	name = trim(line);
	pid = number(cell[1]);
	if (pid <= 0 || pid > INT32_MAX) {
		if (!is_word(cell[1]) || cell[1][0] == '\0')
			return -1;
		s->procs = PROCS_HIDDEN;
		return 0;
	}
	gpu = snap_by_uuid(s, cell[0]);
	if (gpu == -1)
		return 0; /* it was left out, or it came since */
	p = snap_proc(s, (size_t)gpu, (pid_t)pid);
	used = number(cell[2]);
	if (used > p->used)
		p->used = used;
	if (p->type == NULL)
		p->type = xstrdup("C");
	if (p->comm == NULL)
		p->comm = text(name);
	return 0;
}

static void
other_add(struct buf *b, const char *line)
{
	if (b->len > 0)
		buf_char(b, ' ');
	buf_str(b, line);
}

/* Call row or proc_row for each line; what they refuse is other text. */
static void
lines(struct snap *s, const struct buf *in, const struct smi_cols *c,
    struct smi_other *o)
{
	size_t pos, len, end;
	char *line, *copy;
	int bad;

	for (pos = 0; pos < in->len; pos += len + 1) {
		len = strcspn(in->p + pos, "\n");
		end = len;
		while (end > 0 && in->p[pos + end - 1] == '\r')
			end--;
		line = xstrndup(in->p + pos, end);
		copy = xstrdup(line);
		if (line[strspn(line, " \t")] == '\0')
			bad = 0;
		else if (pos + len == in->len)
			bad = -1;
		else if (c != NULL)
			bad = gpu_row(s, copy, c);
		else
			bad = proc_row(s, copy);
		if (bad == -1)
			other_add(strncmp(line, "WARNING:", 8) == 0
				? &o->warning
				: &o->text,
			    line);
		free(copy);
		free(line);
	}
}

void
smicsv_gpus(struct snap *s, const struct buf *in, const struct smi_cols *c,
    struct smi_other *o)
{
	lines(s, in, c, o);
}

void
smicsv_procs(struct snap *s, const struct buf *in, struct smi_other *o)
{
	lines(s, in, NULL, o);
}
