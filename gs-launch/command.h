/* SPDX-License-Identifier: MIT */
/* A command as text. */
#ifndef GS_LAUNCH_COMMAND_H
#define GS_LAUNCH_COMMAND_H

/* The words as a line that a shell would split into them again; to be freed. */
char *command_text(char *const *argv);

#endif
