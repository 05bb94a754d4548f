/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * HTTP heads against Python's: whatever we accept, http.client's field parser
 * and http.server's request line read as the same method, target and fields.
 * Where Python reads anything else, we have to have refused. Heads are the
 * rows of tests/data/gateway-http.jsonl with bytes changed, put in and taken
 * out; what is forwarded is compared, too.
 */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abtest.h"
#include "http.h"
#include "http_write.h"
#include "net_rows.h"

#define MUTANTS 60
#define LONGEST 2000

static const char script[] =
	"import http.client, http.server, io, sys\n"
	"class Handler(http.server.BaseHTTPRequestHandler):\n"
	"    def __init__(self, data):\n"
	"        self.rfile = io.BytesIO(data)\n"
	"        self.wfile = io.BytesIO()\n"
	"        self.client_address = ('', 0)\n"
	"        self.error = None\n"
	"        self.raw_requestline = self.rfile.readline(65537)\n"
	"        self.good = self.parse_request()\n"
	"    def send_error(self, code, *rest):\n"
	"        self.error = code\n"
	"    def log_message(self, *rest):\n"
	"        pass\n"
	"def text(h):\n"
	"    fields = ['%s=%s' % (k.lower(), v.strip(' \\t'))\n"
	"              for k, v in h.headers.items()]\n"
	"    return '\\x00'.join([h.command, h.path] + fields)\n"
	"n = 0\n"
	"for line in sys.stdin:\n"
	"    data, ours = line.split()\n"
	"    h = Handler(bytes.fromhex(data))\n"
	"    n += 1\n"
	"    if not h.good or h.rfile.read(1):\n"
	"        print('refuses or leaves', bytes.fromhex(data), h.error)\n"
	"    elif text(h) != bytes.fromhex(ours).decode('latin-1'):\n"
	"        print('reads', bytes.fromhex(data), 'as', repr(text(h)))\n"
	"print('end', n > 1000)\n";

static FILE *list;
static uint32_t state = 88172645;

static uint32_t next_random(void)
{
	state ^= state << 13;
	state ^= state >> 17;
	state ^= state << 5;
	return state;
}

static void put_hex(const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		fprintf(list, "%02x", (unsigned char)s[i]);
}

static void put_lower(const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		fprintf(list, "%02x",
			(unsigned char)(s[i] >= 'A' && s[i] <= 'Z' ?
						s[i] + 32 :
						s[i]));
}

/* The head, and what it says to us: method, target, name=value... */
static void put_head(const ab_http_head *h, const char *buf)
{
	put_hex(buf, h->len);
	fputc(' ', list);
	put_hex(buf + h->method.at, h->method.len);
	fprintf(list, "00");
	put_hex(buf + h->target.at, h->target.len);
	for (size_t i = 0; i < h->field_count; i++) {
		fprintf(list, "00");
		put_lower(buf + h->fields[i].name.at, h->fields[i].name.len);
		fprintf(list, "3d");
		put_hex(buf + h->fields[i].value.at, h->fields[i].value.len);
	}
	fputc('\n', list);
}

/* http.server folds "//" at the beginning of a path, and takes fewer fields. */
static bool is_comparable(const ab_http_head *h, const char *buf)
{
	if (h->field_count > 98)
		return false;
	return h->target.len < 2 || memcmp(buf + h->target.at, "//", 2) != 0;
}

static void try_head(const char *data, size_t n)
{
	static char text[LONGEST * 2];
	ab_http_out out = { .p = text, .size = sizeof(text) };
	ab_http_rewrite rewrite = { .default_port = 80 };
	ab_http_head h;

	ab_http_head_init(&h, AB_HTTP_REQUEST);
	if (ab_http_head_read(&h, data, n) != AB_HTTP_OK ||
	    !is_comparable(&h, data))
		return;
	put_head(&h, data);
	if (!ab_http_write_request(&out, &h, data, &rewrite))
		return;
	ab_http_head_init(&h, AB_HTTP_REQUEST);
	ck_assert_int_eq(ab_http_head_read(&h, text, out.len), AB_HTTP_OK);
	if (is_comparable(&h, text))
		put_head(&h, text);
}

static size_t mutate(char *s, size_t n)
{
	static const char odd[] = "\r\n\t :;,\0\x0b\x0c\x1c\x1e\x85\xa0\x7f\"\\";
	size_t at = next_random() % (n ? n : 1);
	char c = next_random() & 1 ? odd[next_random() % (sizeof(odd) - 1)] :
				     (char)next_random();

	switch (next_random() % 4) {
	case 0:
		s[at] = c;
		return n;
	case 1:
		memmove(s + at + 1, s + at, n - at);
		s[at] = c;
		return n + 1;
	case 2:
		memmove(s + at, s + at + 1, n - at - 1);
		return n - 1;
	default:
		return n;
	}
}

static void each(const json_t *row, const char *id)
{
	size_t n;
	char *data;

	(void)id;
	if (strcmp(net_text(row, "kind"), "request") != 0)
		return;
	data = net_take(row, "in", &n);
	for (int i = 0; n && n < LONGEST && i < MUTANTS; i++) {
		char copy[LONGEST + 8];
		size_t len = n;

		memcpy(copy, data, n);
		for (int j = 0; j < i % 4 && len; j++)
			len = mutate(copy, len);
		try_head(copy, len);
	}
	free(data);
}

START_TEST(python_reads_what_we_accept_as_we_do)
{
	char heads[4096];
	char peer[4096];
	char command[8300];
	char line[4096];
	FILE *f;

	snprintf(heads, sizeof(heads), "%s/heads", ab_test_tmpdir());
	list = fopen(heads, "we");
	ck_assert_ptr_nonnull(list);
	net_each_row("gateway-http.jsonl", 200, each);
	fclose(list);
	snprintf(peer, sizeof(peer), "%s/peer.py", ab_test_tmpdir());
	f = fopen(peer, "we");
	ck_assert_ptr_nonnull(f);
	fputs(script, f);
	fclose(f);
	snprintf(command, sizeof(command), "python3 -B '%s' <'%s'", peer,
		 heads);
	f = popen(command, "re");
	ck_assert_ptr_nonnull(f);
	ck_assert_ptr_nonnull(fgets(line, sizeof(line), f));
	ck_assert_str_eq(line, "end True\n");
	ck_assert_int_eq(pclose(f), 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("gateway_peer");
	TCase *tc = tcase_create("gateway_peer");
	SRunner *sr;
	int bad;

	tcase_set_timeout(tc, 120 * ab_test_slowness());
	tcase_add_test(tc, python_reads_what_we_accept_as_we_do);
	suite_add_tcase(s, tc);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	bad = srunner_ntests_failed(sr);
	srunner_free(sr);
	return bad ? 1 : 0;
}
