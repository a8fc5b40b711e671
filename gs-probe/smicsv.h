/* SPDX-License-Identifier: MIT */
/*
 * What nvidia-smi prints for its csv queries (format csv,noheader,nounits).
 * Pure: text in, snapshot out.
 */
#ifndef GS_SMICSV_H
#define GS_SMICSV_H

#include <stdbool.h>

#include "lib/buf.h"

struct snap;

/* The columns of the GPU query, in the order asked for. */
enum smi_field {
	SMI_INDEX,
	SMI_UUID,
	SMI_BUS,
	SMI_NAME,
	SMI_TOTAL,
	SMI_RESERVED,
	SMI_USED,
	SMI_FREE,
	SMI_UTIL,
	SMI_MODE,
	SMI_MIG,
	SMI_TEMP,
	SMI_FIELDS,
};

/* Fields that this version of the tool does not know are not asked for. */
struct smi_cols {
	bool off[SMI_FIELDS];
};

/* What the text held besides rows. */
struct smi_other {
	struct buf text; /* lines that are no rows: error messages */
	struct buf warning; /* lines that say WARNING: themselves */
};

/* "index,uuid,...": the value of --query-gpu. */
void smicsv_columns(struct buf *b, const struct smi_cols *c);

/* The value of --query-compute-apps.  The name comes last, as it may hold
 * commas and is not quoted. */
extern const char smicsv_apps[];

/*
 * Take the field out that the tool says is none ("Field "x" is not a valid
 * field to query.").  Did that change anything?
 */
bool smicsv_drop(struct smi_cols *c, const char *text);

/*
 * Append the GPUs.  A line that is not a whole row, with its newline, goes to
 * o->text.  The buffers may be empty or not at the start.
 */
void smicsv_gpus(struct snap *s, const struct buf *text,
    const struct smi_cols *c, struct smi_other *o);

/*
 * Append the processes of the GPUs that are there.  Rows that hide their pid
 * make s->procs PROCS_HIDDEN.
 */
void smicsv_procs(struct snap *s, const struct buf *text, struct smi_other *o);

#endif
