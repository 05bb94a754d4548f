/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The key of a served box: 256 random bits in a file that nobody else can
 * read. Who starts the client's side holds it, too, in the environment, as
 * MCP servers on stdio take credentials; a box started under another's
 * settings, or by somebody who has only the command line, serves nothing.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mcp_box.h"
#include "text.h"

#define KEY_BYTES 32
#define KEY_TEXT (2 * KEY_BYTES)
#define KEY_VARIABLE "AGENTBOX_KEY"

int mcp_key_make(tool *t, const char *file)
{
	static const char hex[] = "0123456789abcdef";
	unsigned char bytes[KEY_BYTES];
	char text[KEY_TEXT + 1];

	if (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes))
		return tool_refuse(t, TOOL_INTERNAL, "ESYS", "--new-key",
				   "the kernel gives no randomness");
	for (size_t i = 0; i < KEY_BYTES; i++) {
		text[2 * i] = hex[bytes[i] >> 4];
		text[2 * i + 1] = hex[bytes[i] & 15];
	}
	text[KEY_TEXT] = '\n';
	int fd = open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC |
			    O_NOFOLLOW, 0600);
	bool ok = fd >= 0 && write(fd, text, sizeof(text)) == sizeof(text);
	int saved = errno;
	explicit_bzero(bytes, sizeof(bytes));
	explicit_bzero(text, sizeof(text));
	if (fd >= 0)
		close(fd);
	if (ok)
		return 0;
	return tool_refuse(t, saved == EEXIST ? TOOL_REFUSED : TOOL_BAD_INPUT,
			   saved == EEXIST ? "EEXIST" : "ESYS", "--new-key",
			   "cannot make '%s': %s", file, strerror(saved));
}

static bool is_key(const char *s)
{
	return strlen(s) == KEY_TEXT &&
	       strspn(s, "0123456789abcdef") == KEY_TEXT;
}

/* The key in the file; why not, or NULL. */
static const char *read_key(const char *file, char key[KEY_TEXT + 1])
{
	int fd = open(file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	const char *why = NULL;
	struct stat st;
	char text[KEY_TEXT + 2] = "";

	if (fd < 0)
		return strerror(errno);
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		why = "is not a file";
	else if (st.st_uid != geteuid() || (st.st_mode & 077))
		why = "others can read it: its mode must be 0600";
	else if (st.st_size > KEY_TEXT + 1 ||
		 read(fd, text, KEY_TEXT + 1) < KEY_TEXT)
		why = "holds no key; make one with --new-key";
	close(fd);
	text[KEY_TEXT] = '\0';
	if (!why && !is_key(text))
		why = "holds no key; make one with --new-key";
	memcpy(key, text, KEY_TEXT + 1);
	explicit_bzero(text, sizeof(text));
	return why;
}

/* In time that does not tell how far they agree. */
static bool same_key(const char *a, const char *b)
{
	unsigned char differ = 0;

	for (size_t i = 0; i < KEY_TEXT; i++)
		differ |= (unsigned char)(a[i] ^ b[i]);
	return differ == 0;
}

int mcp_key_check(tool *t, const char *file)
{
	char *given = getenv(KEY_VARIABLE);
	char key[KEY_TEXT + 1];
	bool absent = access(file, F_OK) < 0 && errno == ENOENT;
	const char *why = read_key(file, key);
	bool ok = !why && given && is_key(given) && same_key(key, given);

	/* nothing below this process may find it */
	if (given)
		explicit_bzero(given, strlen(given));
	unsetenv(KEY_VARIABLE);
	explicit_bzero(key, sizeof(key));
	if (why)
		return tool_refuse(t, absent ? TOOL_NOT_FOUND : TOOL_REFUSED,
				   absent ? "ENOTFOUND" : "EACCES", "--key",
				   "'%s': %s", file, why);
	return ok ? 0 : tool_refuse(t, TOOL_REFUSED, "EDENIED", "--key",
				    "the environment has no %s, or not this "
				    "one; it is set to what '%s' holds",
				    KEY_VARIABLE, file);
}
