/* SPDX-License-Identifier: MIT */
/*
 * What every program of the toolkit shares: its version, its exit statuses
 * and the last thing it does before it ends.
 */
#ifndef GS_GS_H
#define GS_GS_H

#ifndef GS_VERSION
#define GS_VERSION "0.0.0" /* the Makefile says the real one */
#endif

/* Filters: gs-probe, gs-place, gs-journal. */
enum {
	GS_OK = 0,
	GS_NO = 1, /* a negative answer */
	GS_BAD = 2, /* wrong use, malformed input, or a system failure */
};

/* Carriers of another command's status, as timeout(1) and env(1) have them. */
enum {
	GS_TIMEOUT = 124,
	GS_FAILED = 125, /* the gs program itself failed */
	GS_NOEXEC = 126,
	GS_NOTFOUND = 127,
	GS_SIGNAL = 128, /* plus the signal's number */
};

/* Print "NAME (gs) VERSION" on stdout. */
void gs_version(void);

/*
 * Flush and close stdout.  Ends the program with `status` after a message if
 * what was written did not arrive; a full disk must not look like success.
 */
void gs_close_stdout(int status);

/*
 * Open /dev/null on whichever of 0, 1 and 2 is closed, so that no file opened
 * later is taken for a standard stream.  Call it first in main().
 */
void gs_open_std(void);

#endif
