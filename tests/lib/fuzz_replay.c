/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * main() for a fuzz target outside libFuzzer: every file named, or every file
 * of a directory named, is one input; without arguments stdin is (AFL++).
 * One TAP line per input. It does not mutate anything.
 */
#include "config.h"

#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static unsigned count;

static int run_stream(FILE *f, const char *name)
{
	size_t size = 0, cap = 1 << 16;
	uint8_t *data = malloc(cap);

	while (data) {
		size_t got = fread(data + size, 1, cap - size, f);

		size += got;
		if (got == 0)
			break;
		if (size == cap) {
			uint8_t *more = realloc(data, cap *= 2);

			if (!more)
				free(data);
			data = more;
		}
	}
	if (!data)
		return 1;
	/* exactly-sized, so that a sanitizer sees one byte too many */
	uint8_t *exact = malloc(size ? size : 1);

	if (!exact) {
		free(data);
		return 1;
	}
	memcpy(exact, data, size);
	free(data);
	LLVMFuzzerTestOneInput(exact, size);
	free(exact);
	printf("ok %u - %s\n", ++count, name);
	fflush(stdout);
	return 0;
}

static int run_file(const char *path)
{
	FILE *f = fopen(path, "rbe");

	if (!f) {
		perror(path);
		return 1;
	}
	int rc = run_stream(f, path);

	fclose(f);
	return rc;
}

static int run_dir(const char *path)
{
	struct dirent **list = NULL;
	int n = scandir(path, &list, NULL, alphasort);
	int rc = 0;

	if (n < 0) {
		perror(path);
		return 1;
	}
	for (int i = 0; i < n; i++) {
		char *name = NULL;

		if (list[i]->d_name[0] != '.' &&
		    asprintf(&name, "%s/%s", path, list[i]->d_name) >= 0) {
			rc |= run_file(name);
			free(name);
		}
		free(list[i]);
	}
	free(list);
	return rc;
}

int main(int argc, char **argv)
{
	int rc = 0;

	if (argc < 2)
		return run_stream(stdin, "stdin");
	for (int i = 1; i < argc; i++) {
		struct stat st;

		if (stat(argv[i], &st) == 0 && S_ISDIR(st.st_mode))
			rc |= run_dir(argv[i]);
		else
			rc |= run_file(argv[i]);
	}
	printf("1..%u\n", count);
	return rc;
}
