/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The words by which code_flow.c tells what an inline program does with what it
 * has from outside: where that comes from, what sends it, what only carries it.
 * Refuses to know whose a name is; who asks sees what stands around it.
 */
#include "config.h"

#include "guard/code.h"

#include <string.h>
#include <strings.h>

#define MAX_HEADER 32 /* bytes of a name */

bool ab_code_is_header(const char *name, uint32_t len, bool is_reading)
{
	static const char *const parts[] = { "header", "auth", "cookie",
					     "bearer", "netrc", "json" };
	/* what is written for a request, and no file */
	const size_t count = AB_ARRAY_LEN(parts) - !is_reading;

	if (len > MAX_HEADER || memchr(name, '/', len))
		return false;
	for (uint32_t i = 0; i < len; i++) {
		for (size_t p = 0; p < count; p++) {
			size_t n = strlen(parts[p]);

			if (len - i >= n && !strncasecmp(name + i, parts[p], n))
				return true;
		}
	}
	return false;
}

bool ab_code_reads_environment(const struct ab_code *k,
			       const struct ab_token *t)
{
	static const char *const names[] = { "environ", "environb", "getenv",
					     "env",	"ENV",	    "$ENV",
					     "$_ENV",	"$_SERVER" };

	return ab_code_is_one_of(k, t, names, AB_ARRAY_LEN(names));
}

/* It sends what it is given, whoever has it. */
bool ab_code_is_sender(const struct ab_code *k, const struct ab_token *t)
{
	static const char *const names[] = {
		"sendall",	    "sendto",	     "gethostbyname",
		"gethostbyname_ex", "getaddrinfo",   "resolve4",
		"resolveTxt",	    "curl_setopt",   "file_get_contents",
	};

	/* urllib.request.Request(u, data=x) is what urlopen() sends */
	if (ab_code_is_text(k, t, "Request"))
		return k->lang == AB_PY;
	if (ab_code_is_text(k, t, "send"))
		return k->lang & (AB_PY | AB_PERL);
	return ab_code_is_one_of(k, t, names, AB_ARRAY_LEN(names));
}

/* What it returns has in it what it was given. */
bool ab_code_carries(const struct ab_code *k, const struct ab_token *t)
{
	static const char *const names[] = {
		"str",		 "encode",	"decode",      "b64encode",
		"dumps",	 "dict",	"format",      "join",
		"quote",	 "urlencode",	"Request",     "stringify",
		"from",		 "concat",	"append",      "quote_plus",
		"getenv",	 "get",		"fetch",       "push",
		"assign",	 "fromEntries", "entries",     "items",
		"copy",		 "to_h",	"to_hash",     "list",
		"update",	 "toString",	"btoa",	       "to_json",
		"encode_json",	 "json_encode", "strip",       "trim",
		"base64_encode", "hexlify",	"bytes",       "URI",
		"encode_base64", "URL",		"encodeURIComponent",
		"encode_www_form", "URLSearchParams", "strict_encode64",
		"encode_www_form_component",	"http_build_query",
	};

	return ab_code_is_one_of(k, t, names, AB_ARRAY_LEN(names));
}

/* What a client is asked to send. */
bool ab_code_is_verb(const struct ab_code *k, const struct ab_token *t)
{
	static const char *const names[] = {
		"get",	   "post",    "put",	"patch",     "head",
		"delete",  "request", "send",	"write",     "end",
		"stream",  "post_form", "get_response", "sendall",
		"post_json", "get_print", "getstore", "query",
	};

	return ab_code_is_one_of(k, t, names, AB_ARRAY_LEN(names));
}

/* What of a request is the file that it sends. */
bool ab_code_is_payload(const struct ab_code *k, const struct ab_token *t)
{
	static const char *const names[] = { "files", "data", "content",
					     "body",  "file", "form" };

	return ab_code_is_one_of(k, t, names, AB_ARRAY_LEN(names));
}

bool ab_code_is_reader(const struct ab_code *k, const struct ab_token *t)
{
	static const char *const names[] = {
		"open",	       "stdin",	       "STDIN",	   "input",
		"ARGF",	       "gets",	       "fileinput", "readFileSync",
		"readFile",    "createInterface", "read_text", "readlines",
		"readline",    "load_file",    "fgets",	   "file",
	};

	return ab_code_is_one_of(k, t, names, AB_ARRAY_LEN(names)) ||
	       (k->lang == AB_RUBY && ab_code_is_text(k, t, "foreach"));
}

bool ab_code_is_file_reader(const struct ab_code *k, const struct ab_token *t)
{
	static const char *const names[] = { "readFileSync", "readFile",
					     "read_text",    "read_bytes",
					     "openAsBlob",   "createReadStream",
					     "binread" };

	return ab_code_is_one_of(k, t, names, AB_ARRAY_LEN(names));
}

/* Somebody reads what it is given. */
bool ab_code_is_print(const struct ab_code *k, const struct ab_token *t)
{
	static const char *const names[] = { "print",  "pprint", "log",
					     "error",  "info",	 "puts",
					     "p",      "echo",	 "say",
					     "printf", "warn",	 "debug",
					     "print_r" };

	return ab_code_is_one_of(k, t, names, AB_ARRAY_LEN(names));
}

/* What files of private keys are called; their class tells more of it. */
static const char *const keys[] = { ".pem", ".key", ".p12",	  ".pfx",
				    ".ppk", ".jks", "id_rsa",	  "id_dsa",
				    "id_ecdsa", "id_ed25519" };

static bool has_key(const char *s, uint32_t len)
{
	for (size_t i = 0; i < AB_ARRAY_LEN(keys); i++) {
		if (memmem(s, len, keys[i], strlen(keys[i])))
			return true;
	}
	return false;
}

bool ab_code_has_keys(const struct ab_code *k)
{
	return k->lang & (AB_PY | AB_JS | AB_RUBY | AB_PERL | AB_PHP) &&
	       has_key(k->text->text, k->text->len);
}

bool ab_code_has_key_name(const struct ab_code *k, const struct ab_token *t)
{
	return has_key(k->text->text + t->at, t->len);
}
