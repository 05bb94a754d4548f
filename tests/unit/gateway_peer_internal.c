/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * HTTP heads against those of others: whatever we accept, http.client's field
 * parser and http.server's request line read as the same method, target and
 * fields, and so does Node's, of which a body and another request behind it
 * show that it ends the message where we do. Where one of them reads anything
 * else, we have to have refused. Heads are the rows of
 * tests/data/gateway-http.jsonl with bytes changed, put in and taken out; what
 * is forwarded is compared, too.
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
	"    data, ours, length = line.split()\n"
	"    h = Handler(bytes.fromhex(data))\n"
	"    n += 1\n"
	"    if not h.good or h.rfile.read(1):\n"
	"        print('refuses or leaves', bytes.fromhex(data), h.error)\n"
	"    elif text(h) != bytes.fromhex(ours).decode('latin-1'):\n"
	"        print('reads', bytes.fromhex(data), 'as', repr(text(h)))\n"
	"print('end', n > 1000)\n";

/* It knows few methods and may refuse more than we do: that is no harm. */
static const char node_script[] =
	"const { HTTPParser: P } = require('_http_common');\n"
	"const NEXT = 'GET /next HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n';\n"
	"const methods = P.methods ?? require('_http_common').methods;\n"
	"function read(data) {\n"
	"  const p = new P(), got = [];\n"
	"  let list = [], target = '';\n"
	"  p.initialize(P.REQUEST, {});\n"
	"  p[P.kOnHeaders | 0] = (fields, url) => {\n"
	"    list.push(...fields); target += url; };\n"
	"  p[P.kOnHeadersComplete | 0] = (major, minor, fields, method, url,"
	" ...rest) => {\n"
	"    if (fields) list = fields;\n"
	"    if (url !== undefined) target = url;\n"
	"    const said = [methods[method], target];\n"
	"    for (let i = 0; i < list.length; i += 2)\n"
	"      said.push(list[i].toLowerCase() + '=' + list[i + 1]);\n"
	"    got.push({ said: said.join('\\0'), size: 0, upgrade: rest[2] });\n"
	"    list = []; target = '';\n"
	"    return methods[method] === 'CONNECT' ? 2 : 0;\n"
	"  };\n"
	"  p[P.kOnBody | 0] = (b) => { got.at(-1).size += b.length; };\n"
	"  p[P.kOnMessageComplete | 0] = () => { got.at(-1).whole = true; };\n"
	"  const r = p.execute(data);\n"
	"  return [got, r instanceof Error ? r.code : ''];\n"
	"}\n"
	"let n = 0;\n"
	"for (const line of require('fs').readFileSync(0, 'latin1')"
	".split('\\n')) {\n"
	"  if (!line) continue;\n"
	"  const [data, ours, length] = line.split(' ');\n"
	"  const size = length === 'chunked' ? 10 : +length;\n"
	"  if (size > 4096) continue;\n"
	"  const body = length === 'chunked' ?\n"
	"    'A\\r\\n0123456789\\r\\n0\\r\\n\\r\\n' : 'b'.repeat(size);\n"
	"  const bytes = Buffer.from(data, 'hex');\n"
	"  const [got, why] = read(Buffer.concat([bytes,"
	" Buffer.from(body + NEXT)]));\n"
	"  if (!got.length) continue;\n"
	"  const first = got[0];\n"
	"  n++;\n"
	"  const text = bytes.toString('latin1');\n"
	"  if (first.said !== Buffer.from(ours, 'hex').toString('latin1'))\n"
	"    console.log('reads', JSON.stringify(text), 'as',"
	" JSON.stringify(first.said));\n"
	"  else if (!first.whole || first.size !== size)\n"
	"    console.log('ends', JSON.stringify(text), 'after', first.size,"
	" why);\n"
	"  else if (why !== 'HPE_CLOSED_CONNECTION' &&"
	" !first.upgrade &&\n"
	"      (got.length !== 2 || !got[1].said.startsWith("
	"'GET\\0/next\\0')))\n"
	"    console.log('leaves', JSON.stringify(text), why);\n"
	"}\n"
	"console.log('end', n > 1000);\n";

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
	/* what follows it */
	if (h->body == AB_HTTP_BODY_CHUNKED)
		fprintf(list, " chunked\n");
	else
		fprintf(list, " %llu\n", (unsigned long long)h->length);
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

static char heads[4096];

static void write_heads(void)
{
	snprintf(heads, sizeof(heads), "%s/heads", ab_test_tmpdir());
	list = fopen(heads, "we");
	ck_assert_ptr_nonnull(list);
	net_each_row("gateway-http.jsonl", 200, each);
	fclose(list);
}

/* The peer says nothing but that it has come to the end, and read much. */
static void compare(const char *program, const char *text, const char *end)
{
	char peer[4096];
	char command[8300];
	char line[4096];
	FILE *f;

	write_heads();
	snprintf(peer, sizeof(peer), "%s/peer", ab_test_tmpdir());
	f = fopen(peer, "we");
	ck_assert_ptr_nonnull(f);
	fputs(text, f);
	fclose(f);
	snprintf(command, sizeof(command), "%s '%s' <'%s'", program, peer,
		 heads);
	f = popen(command, "re");
	ck_assert_ptr_nonnull(f);
	ck_assert_ptr_nonnull(fgets(line, sizeof(line), f));
	ck_assert_str_eq(line, end);
	ck_assert_int_eq(pclose(f), 0);
}

START_TEST(python_reads_what_we_accept_as_we_do)
{
	compare("python3 -B", script, "end True\n");
}
END_TEST

START_TEST(node_reads_what_we_accept_as_we_do)
{
	if (system("command -v node >/dev/null") != 0) {
		ab_test_skip("node_reads_what_we_accept_as_we_do",
			     "no node here");
		return;
	}
	compare("node --no-warnings", node_script, "end true\n");
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
	tcase_add_test(tc, node_reads_what_we_accept_as_we_do);
	suite_add_tcase(s, tc);
	sr = srunner_create(s);
	srunner_run_all(sr, CK_NORMAL);
	bad = srunner_ntests_failed(sr);
	srunner_free(sr);
	return bad ? 1 : 0;
}
