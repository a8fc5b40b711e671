/* SPDX-License-Identifier: MIT */
/*
 * The escapes of a record field: \t \n \r \\ as jq's @tsv has them, other
 * control bytes (below 0x20, and 0x7f) as \ooo, all other bytes as they are.
 * See gs-records(5).
 */
#ifndef GS_ESC_H
#define GS_ESC_H

#include <stddef.h>

struct buf;

/* Append s, escaped.  A lone "-" becomes "\-", since "-" means unknown. */
void esc_add(struct buf *b, const char *s, size_t n);

/*
 * Undo it in place; s becomes NUL-terminated.  Returns the new length, or -1
 * if an escape is not one of the above or stands for a NUL byte.
 */
int esc_undo(char *s, size_t n);

/*
 * Append s for a terminal or a board: control bytes and bytes that are not
 * UTF-8 become escapes, so nothing in it moves a cursor.  At most `cols`
 * columns (0: no limit); a cut text ends in "..." and never inside a
 * character.
 */
void esc_show(struct buf *b, const char *s, size_t cols);

/* Is it valid UTF-8 (no surrogates, no overlong forms)? */
int esc_is_utf8(const char *s, size_t n);

#endif
