/* SPDX-License-Identifier: MIT */
/* For the tests: `unitdump mib|ms|ppm|age WORD...` prints each as a number. */
#include <err.h>
#include <stdio.h>
#include <string.h>

#include "lib/unit.h"

static void
dump(const char *kind, const char *word)
{
	const char *errstr = NULL;
	int64_t v = 0;
	char age[32];

	if (strcmp(kind, "mib") == 0)
		v = unit_mib(word, &errstr);
	else if (strcmp(kind, "ms") == 0)
		v = unit_ms(word, &errstr);
	else if (strcmp(kind, "ppm") == 0)
		v = unit_ppm(word, &errstr);
	else if (strcmp(kind, "age") == 0)
		v = unit_num(word, 0, INT64_MAX, &errstr);
	else
		errx(2, "%s: no such kind", kind);
	unit_age(age, sizeof(age), v);
	if (errstr != NULL)
		puts(errstr);
	else if (strcmp(kind, "age") == 0)
		puts(age);
	else
		printf("%lld\n", (long long)v);
}

int
main(int argc, char *argv[])
{
	int i;

	for (i = 2; i < argc; i++)
		dump(argv[1], argv[i]);
	return fflush(stdout) == EOF;
}
