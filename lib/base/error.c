/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Errors: code, errno, one line of text, the place. It refuses to fail: when
 * memory runs out a constant error is handed out. Control characters in the
 * text become '?', because messages quote names that others chose and end on
 * terminals. Spec: base.h, error.h, STYLE.md section 4.
 */
#include "config.h"

#include "base/error.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/limits.h"

struct agentbox_error {
	int32_t code;
	int32_t sys_errno;
	const char *message; /* both point behind the struct */
	const char *where;
};

/* Never written to: agentbox_error_free() knows it by its address. */
static const agentbox_error nomem = {
	.code = AGENTBOX_ENOMEM,
	.sys_errno = ENOMEM,
	.message = "out of memory",
	.where = "",
};

/* Indexed by -code. */
static const char *const names[] = {
	"OK",	    "EINVAL",  "ENOMEM",       "EPARSE",    "EPOLICY",
	"ENOTFOUND", "EACCES", "EDENIED",      "EWALL",	    "EHELPER",
	"EPROTO",   "ESYS",    "ELIMIT",       "ETIMEOUT",  "ECLOSED",
	"EBUSY",    "EFORKED", "EAGAIN",       "EEXIST",    "EUNSUPPORTED",
	"ETAMPERED", "ECANCELED",
};

_Static_assert(AB_ARRAY_LEN(names) == 1 - AGENTBOX_ECANCELED,
	       "one name per code");

static agentbox_error *nomem_error(void)
{
	return (agentbox_error *)(uintptr_t)&nomem;
}

/* One line, whatever was quoted in it; says so when it had to be cut. */
static void make_line(char *text, size_t size, int wanted)
{
	for (char *p = text; *p; p++) {
		if ((unsigned char)*p < 0x20 || *p == 0x7f)
			*p = '?';
	}
	if (wanted >= 0 && (size_t)wanted >= size)
		memcpy(text + size - 4, "...", 4);
}

static AB_PRINTF(3, 0) void format_line(char *out, size_t size,
					const char *fmt, va_list ap)
{
	out[0] = '\0';
	make_line(out, size, vsnprintf(out, size, fmt, ap));
}

/* The C locale's text of an errno: strerror() follows the host's locale. */
static void append_errno(char *text, size_t size, int sys_errno)
{
	const char *name = strerrordesc_np(sys_errno);
	size_t len = strlen(text);
	int n;

	if (name && islower((unsigned char)name[1]))
		n = snprintf(text + len, size - len, ": %c%s",
			     tolower((unsigned char)name[0]), name + 1);
	else if (name)
		n = snprintf(text + len, size - len, ": %s", name);
	else
		n = snprintf(text + len, size - len, ": errno %d", sys_errno);
	make_line(text + len, size - len > 4 ? size - len : 4,
		  size - len > 4 ? n : -1);
}

static agentbox_error *make(int32_t code, int sys_errno, const char *where,
			    const char *message)
{
	size_t message_size = strlen(message) + 1;
	size_t where_size = strlen(where) + 1;
	agentbox_error *e;
	char *text;

	e = ab_calloc(1, sizeof(*e) + message_size + where_size);
	if (!e)
		return nomem_error();
	text = (char *)(e + 1);
	memcpy(text, message, message_size);
	memcpy(text + message_size, where, where_size);
	e->code = code;
	e->sys_errno = sys_errno;
	e->message = text;
	e->where = text + message_size;
	return e;
}

static AB_PRINTF(5, 0) void set_error(agentbox_error **err, int32_t code,
				      int sys_errno, const char *where,
				      const char *fmt, va_list ap)
{
	char message[AB_MAX_ERROR_TEXT];
	char place[AB_MAX_ERROR_TEXT];
	int saved = errno;

	format_line(message, sizeof(message), fmt, ap);
	if (sys_errno)
		append_errno(message, sizeof(message), sys_errno);
	make_line(place, sizeof(place),
		  snprintf(place, sizeof(place), "%s", where ? where : ""));
	*err = make(code, sys_errno, place, message);
	errno = saved;
}

int32_t ab_error_set(agentbox_error **err, int32_t code, const char *where,
		     const char *fmt, ...)
{
	va_list ap;

	if (!err)
		return code;
	va_start(ap, fmt);
	set_error(err, code, 0, where, fmt, ap);
	va_end(ap);
	return code;
}

static int32_t code_of_errno(int sys_errno)
{
	switch (sys_errno) {
	case ENOENT:
		return AGENTBOX_ENOTFOUND;
	case EACCES:
	case EPERM:
		return AGENTBOX_EACCES;
	case ENOMEM:
		return AGENTBOX_ENOMEM;
	default:
		return AGENTBOX_ESYS;
	}
}

int32_t ab_error_sys(agentbox_error **err, int sys_errno, const char *where,
		     const char *fmt, ...)
{
	int32_t code = code_of_errno(sys_errno);
	va_list ap;

	if (!err)
		return code;
	va_start(ap, fmt);
	set_error(err, code, sys_errno, where, fmt, ap);
	va_end(ap);
	return code;
}

int32_t ab_error_sys_code(agentbox_error **err, int32_t code, int sys_errno,
			  const char *where, const char *fmt, ...)
{
	va_list ap;

	if (!err)
		return code;
	va_start(ap, fmt);
	set_error(err, code, sys_errno, where, fmt, ap);
	va_end(ap);
	return code;
}

int32_t ab_error_nomem(agentbox_error **err)
{
	if (err)
		*err = nomem_error();
	return AGENTBOX_ENOMEM;
}

int32_t ab_error_copy(agentbox_error **to, const agentbox_error *from)
{
	if (!from)
		return ab_error_nomem(to);
	if (to)
		*to = make(from->code, from->sys_errno, from->where,
			   from->message);
	return from->code;
}

int32_t ab_error_move(agentbox_error **to, agentbox_error **from)
{
	agentbox_error *e = ab_steal(from);
	/* nothing to move is a defect, and must not read as success */
	int32_t code = e ? e->code : AGENTBOX_EINVAL;

	if (to && e)
		*to = e;
	else
		agentbox_error_free(e);
	return code;
}

int32_t agentbox_error_get_code(const agentbox_error *error)
{
	return error ? error->code : AGENTBOX_OK;
}

int32_t agentbox_error_get_errno(const agentbox_error *error)
{
	return error ? error->sys_errno : 0;
}

const char *agentbox_error_get_message(const agentbox_error *error)
{
	return error ? error->message : "";
}

const char *agentbox_error_get_where(const agentbox_error *error)
{
	return error ? error->where : "";
}

void agentbox_error_free(agentbox_error *error)
{
	int saved = errno;

	if (error != &nomem)
		free(error);
	errno = saved;
}

const char *agentbox_error_name(int32_t code)
{
	if (code > 0 || code < AGENTBOX_ECANCELED)
		return "EUNKNOWN";
	return names[-code];
}
