/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A source tree for the snapshot benchmark, the same bytes each time: files of
 * text that reads like code, of sizes as they are met in large repositories,
 * and beside them what no snapshot has: a history, dependencies, secrets.
 */
#include "snapshot.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILES_PER_DIR 14
#define TEXT_MAX ((size_t)128 << 10)

static const char *const words[] = {
	"buffer", "length", "if", "return", "struct", "node", "const", "int",
	"offset", "static", "entry", "count", "for", "next", "size", "table",
	"void", "index", "parent", "else", "value", "queue", "char", "lock",
	"list", "config", "while", "state", "flags", "error", "path", "name",
};
static const char *const stops[] = { " ", " ", " ", " = ", "->", "(", ") ",
				     ";\n\t", ", ", " + ", ";\n", " * " };

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* xorshift64: nothing here needs more. */
static uint64_t next(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static size_t put_text(char *to, size_t want, uint64_t *state)
{
	size_t n = 0;

	while (n < want) {
		uint64_t r = next(state);
		const char *word = words[r % COUNT(words)];
		const char *stop = stops[(r >> 16) % COUNT(stops)];

		n += (size_t)sprintf(to + n, "%s%s", word, stop);
	}
	to[n++] = '\n';
	return n;
}

/* Half under 4 KiB, a seventh over 16 KiB, 9 KiB in the mean. */
static size_t size_of(uint64_t *state)
{
	uint64_t r = next(state);
	size_t scale = (size_t)256 << (r % 7);

	return scale + (size_t)((r >> 8) % (scale * 2));
}

static void put_file(const char *path, size_t want, uint64_t *state)
{
	static char text[TEXT_MAX + 64];
	size_t n = put_text(text, want < TEXT_MAX ? want : TEXT_MAX, state);
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);

	if (fd < 0 || write(fd, text, n) != (ssize_t)n) {
		perror(path);
		exit(1);
	}
	close(fd);
}

/* Ten directories in each, as deep as it takes. */
static void dir_path(char *out, size_t size, const char *top, size_t number)
{
	char digits[32];
	size_t at = (size_t)snprintf(out, size, "%s", top);

	snprintf(digits, sizeof(digits), "%zu", number);
	for (const char *d = digits; *d && at < size; d++)
		at += (size_t)snprintf(out + at, size - at, "/part%c", *d);
}

static void make_dir(const char *path)
{
	if (mkdir(path, 0755) < 0) {
		perror(path);
		exit(1);
	}
}

void tree_path(char *out, size_t size, const char *top, size_t number)
{
	size_t n;

	dir_path(out, size, top, number / FILES_PER_DIR);
	n = strlen(out);
	snprintf(out + n, size - n, "/file%zu.c", number);
}

static void make_unwanted(const char *top, size_t files, uint64_t *state)
{
	static const char *const dirs[] = { ".git", ".git/objects",
					    "node_modules" };
	char path[4200];

	for (size_t i = 0; i < COUNT(dirs); i++) {
		snprintf(path, sizeof(path), "%s/%s", top, dirs[i]);
		make_dir(path);
	}
	for (size_t i = 0; i < files / 40; i++) {
		snprintf(path, sizeof(path), "%s/.git/objects/%zu", top, i);
		put_file(path, size_of(state), state);
		snprintf(path, sizeof(path), "%s/node_modules/%zu.js", top, i);
		put_file(path, size_of(state), state);
	}
	snprintf(path, sizeof(path), "%s/.env", top);
	put_file(path, 100, state);
}

void tree_make(const char *top, size_t files)
{
	uint64_t state = 88172645463325252u;
	char path[4200];

	make_dir(top);
	for (size_t i = 0; i < files; i++) {
		if (i % FILES_PER_DIR == 0) {
			dir_path(path, sizeof(path), top, i / FILES_PER_DIR);
			make_dir(path);
		}
		tree_path(path, sizeof(path), top, i);
		put_file(path, size_of(&state), &state);
	}
	make_unwanted(top, files, &state);
}

/* Other bytes, each `step`th file. */
void tree_change(const char *top, size_t files, size_t step, unsigned round)
{
	char path[4200];

	for (size_t i = round % step; i < files; i += step) {
		uint64_t state = 0x9e3779b97f4a7c15u + i * 977 + round;

		tree_path(path, sizeof(path), top, i);
		if (unlink(path) < 0) {
			perror(path);
			exit(1);
		}
		put_file(path, size_of(&state), &state);
	}
}
