/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The parts of the audit room: scanner against jansson, hash against
 * libsodium, canonical vectors, clocks, keys, random edits, no memory.
 */
#include "config.h"

#include "audit_help.h"
#include "base/alloc.h"
#include "base/json.h"

static fixture fx;
static uint64_t fake_real = 1700000000000000000ull, fake_boot = 1000000000;
static uint64_t rng = 88172645463325252ull;

static uint64_t real_clock(void)
{
	return fake_real;
}

static uint64_t boot_clock(void)
{
	return fake_boot;
}

static uint64_t draw(uint64_t below)
{
	rng ^= rng << 13;
	rng ^= rng >> 7;
	rng ^= rng << 17;
	return rng % below;
}

static void setup(void)
{
	fixture_begin(&fx);
}

static void teardown(void)
{
	fixture_end(&fx);
}

START_TEST(both_hashes_agree_on_every_length)
{
	ab_sha256_fn fn = ab_sha256_pick();
	uint8_t text[1100], a[32], b[32];

	for (size_t i = 0; i < sizeof(text); i++)
		text[i] = (uint8_t)draw(256);
	for (size_t n = 0; n <= sizeof(text); n += n < 300 ? 1 : 37) {
		fn(text, n, a);
		ab_sha256_portable(text, n, b);
		ck_assert_msg(memcmp(a, b, 32) == 0, "length %zu", n);
	}
	fn("abc", 3, a);
	ck_assert_mem_eq(a, "\xba\x78\x16\xbf\x8f\x01\xcf\xea", 8);
}
END_TEST

/* What the scanner says must be what jansson and the writer say. */
static void compare(const char *line, size_t n)
{
	ab_audit_frame a = { 0 }, b = { 0 };
	int x = ab_audit_scan(line, n, &a);
	int y = ab_audit_scan_slow(line, n, &b);

	ck_assert_msg(x == y, "%d %d: %.*s", x, y, (int)n, line);
	if (x != 0)
		return;
	ck_assert_uint_eq(a.seq, b.seq);
	ck_assert_mem_eq(a.prev, b.prev, 64);
	ck_assert_uint_eq(a.type_len, b.type_len);
	ck_assert_mem_eq(a.type, b.type, a.type_len);
	ck_assert_mem_eq(a.timestamp, b.timestamp, a.timestamp_len);
}

#define FRAME(extra)                                                      \
	"{" extra "\"prev\":\"000000000000000000000000000000000000000000" \
	"0000000000000000000000\",\"seq\":1,\"timestamp\":\"2026\","      \
	"\"type\":\"note\"}"

START_TEST(the_scanner_and_jansson_agree)
{
	static const struct {
		const char *line;
		int rc;
	} rows[] = {
		{ FRAME(""), 0 },
		{ FRAME("\"a\":1,"), 0 },
		{ FRAME("\"a\":-1,"), 0 },
		{ FRAME("\"a\":01,"), -EINVAL },
		{ FRAME("\"a\":-0,"), -EINVAL },
		{ FRAME("\"a\":1.0,"), -EINVAL },
		{ FRAME("\"a\":1e3,"), -EINVAL },
		{ FRAME("\"a\":9223372036854775807,"), 0 },
		{ FRAME("\"a\":9223372036854775808,"), -EINVAL },
		{ FRAME("\"a\": 1,"), -EINVAL },
		{ FRAME("\"a\":\"\\u00e9\","), 0 },
		{ FRAME("\"a\":\"\\u00E9\","), -EINVAL },
		{ FRAME("\"a\":\"\\u0041\","), -EINVAL },
		{ FRAME("\"a\":\"\\u000a\","), -EINVAL },
		{ FRAME("\"a\":\"\\n\\u0000\\u007f\","), 0 },
		{ FRAME("\"a\":\"\\/\","), -EINVAL },
		{ FRAME("\"a\":\"\\ud83d\\ude00\","), 0 },
		{ FRAME("\"a\":\"\\ud83d\","), -EINVAL },
		{ FRAME("\"a\":\"\\ude00\","), -EINVAL },
		{ FRAME("\"a\":\"\xc3\xa9\","), -EINVAL },
		{ FRAME("\"a\":\"\x7f\","), -EINVAL },
		{ FRAME("\"a\":\"\t\","), -EINVAL },
		{ FRAME("\"a\":1,\"a\":2,"), -EINVAL },
		{ FRAME("\"b\":1,\"a\":2,"), -EINVAL },
		{ FRAME("\"a\":{\"b\":1,\"a\":2},"), -EINVAL },
		{ FRAME("\"a\":{\"\\u00e9\":1},"), 0 },
		{ FRAME("\"a\":{\"\\\"\":1},"), 0 },
		{ FRAME("\"a\":{\"z\":1,\"\\u00e9\":1},"), 0 },
		{ FRAME("\"a\":{\"\\u00e9\":1,\"z\":1},"), -EINVAL },
		{ FRAME("\"a\":[],\"b\":{},\"c\":[1,[null,true,false]],"), 0 },
		{ FRAME("\"a\":[1,],"), -EINVAL },
		{ FRAME("\"a\":[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]],"), -EINVAL },
		{ FRAME("\"a\":[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]],"), 0 },
		{ "{}", -EINVAL },
		{ "", -EINVAL },
		{ "[]", -EINVAL },
		{ "null", -EINVAL },
	};
	static const char alphabet[] = "{}[]\",:\\u0123456789abcdefntr -.";
	char line[2048];

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		ab_audit_frame f;
		size_t n = strlen(rows[i].line);

		compare(rows[i].line, n);
		ck_assert_msg(ab_audit_scan(rows[i].line, n, &f) ==
				      rows[i].rc,
			      "%s", rows[i].line);
	}
	for (int round = 0; round < 60000; round++) {
		const char *from = rows[draw(33)].line;
		size_t n = strlen(from);

		memcpy(line, from, n);
		for (uint64_t k = draw(3) + 1; k; k--) {
			size_t at = draw(n);

			if (draw(3) == 0 && n > 1) {
				memmove(line + at, line + at + 1, n - at - 1);
				n--;
			} else if (draw(2)) {
				line[at] = alphabet[draw(sizeof(alphabet) - 1)];
			} else {
				memmove(line + at + 1, line + at, n - at);
				line[at] = alphabet[draw(sizeof(alphabet) - 1)];
				n++;
			}
		}
		compare(line, n);
	}
}
END_TEST

/* tests/data/audit-vectors.jsonl: {"in": value, "text": ..., "sha256": ...} */
START_TEST(m12_vectors_have_the_same_bytes_in_every_language)
{
	char path[1024], command[4096], *all, *line, *save = NULL;
	size_t n;
	int rows = 0, status;

	snprintf(path, sizeof(path), "%s/tests/data/audit-vectors.jsonl",
		 ab_test_srcdir());
	all = slurp(path, &n);
	for (line = strtok_r(all, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save)) {
		json_t *row = json_loads(line, JSON_ALLOW_NUL, NULL);
		const char *want = field(row, "text");
		char buf[8192], hex[65];
		uint8_t hash[32];
		ab_audit_writer w = { .buf = buf, .max = sizeof(buf) };

		ck_assert_ptr_nonnull(row);
		ab_audit_write_value(&w, json_object_get(row, "in"), 0);
		ck_assert(!w.is_bad && !w.is_full);
		ck_assert_msg(w.len == strlen(want) &&
				      memcmp(buf, want, w.len) == 0,
			      "%.*s", (int)w.len, buf);
		ab_sha256_pick()(buf, w.len, hash);
		ab_hex(hash, 32, hex);
		ck_assert_str_eq(hex, field(row, "sha256"));
		json_decref(row);
		rows++;
	}
	free(all);
	ck_assert_int_ge(rows, 12);
	/* and a log, read by a verifier that shares no code with us */
	{
		agentbox_audit *a = opened(&fx, true);

		put_many(a, 20);
		put(a, "note", "{\"subject\":\"\\u00e9\\u2028\\\"\\n\","
			       "\"x\":{\"b\":[1,-2],\"a\":null}}");
		agentbox_audit_unref(a);
	}
	if (system("python3 -c '' 2>/dev/null") != 0) {
		ab_test_skip("m12_vectors_have_the_same_bytes_in_every_language",
			     "no python3 for the second verifier");
		return;
	}
	snprintf(command, sizeof(command),
		 "python3 '%s/tests/data/audit-check.py' '%s' '%s' 22",
		 ab_test_srcdir(), path, fx.log);
	status = system(command);
	ck_assert_int_eq(status, 0);
}
END_TEST

START_TEST(m10_a_clock_that_goes_back_is_flagged_and_not_failed)
{
	agentbox_audit *a = audit_at(&fx, false);
	json_t *doc;

	ab_audit_set_clock(a, real_clock, boot_clock);
	OK(agentbox_audit_open(a, &err));
	put(a, "note", NULL);
	fake_real -= 3600000000000ull;
	put(a, "note", NULL);
	fake_real += 5;
	put(a, "note", NULL);
	agentbox_audit_unref(a);
	JUDGED(verify(&fx, NULL, NULL), 0, "time_anomalies", 1);
	doc = record_at(fx.log, 2);
	ck_assert_str_eq(field(doc, "clock"), "backwards");
	ck_assert_int_eq(json_integer_value(json_object_get(doc, "seq")), 3);
	json_decref(doc);
	doc = record_at(fx.log, 3);
	ck_assert_str_eq(field(doc, "clock"), "");
	json_decref(doc);
}
END_TEST

START_TEST(m06_the_present_key_cannot_sign_an_earlier_head)
{
	agentbox_audit *a = audit_at(&fx, true);
	uint8_t first[AB_AUDIT_SEED_SIZE], second[AB_AUDIT_SEED_SIZE];
	char *all, *line, *end, *key, *sig;
	size_t n;

	OK(agentbox_audit_set_heads(a, 2, 0, &err));
	OK(agentbox_audit_open(a, &err));
	key = key_of(a);
	memcpy(first, a->key.seed, sizeof(first));
	put_many(a, 4);
	memcpy(second, a->key.seed, sizeof(second));
	ck_assert_mem_ne(first, second, sizeof(first));
	/* the file has the new seed and nothing of the old one */
	all = slurp(fx.key, &n);
	ck_assert_uint_eq(n, 1024);
	ck_assert_ptr_nonnull(memmem(all, n, second, sizeof(second)));
	ck_assert_ptr_null(memmem(all, n, first, sizeof(first)));
	free(all);
	OK(agentbox_audit_flush(a, &err));
	/* the thief rewrites record 2 and signs again with what he has */
	all = slurp(fx.log, &n);
	line = all;
	while (!strstr(line, "audit.head") ||
	       strstr(line, "audit.head") > strchr(line, '\n'))
		line = strchr(line, '\n') + 1;
	end = strchr(line, '\n');
	sig = strstr(line, "\"sig\":\"") + 7;
	memset(sig, '0', 128);
	ck_assert_int_eq(ab_audit_key_sign(&a->key, line,
					   (size_t)(end - line), NULL),
			 0);
	spill(fx.log, all, n);
	{
		verdict v = verify(&fx, key, NULL);

		ck_assert_int_eq(v.rc, AGENTBOX_ETAMPERED);
		ck_assert_str_eq(word(&v, "reason"),
				 "head has no valid signature");
		json_decref(v.report);
	}
	free(all);
	free(key);
	agentbox_audit_unref(a);
}
END_TEST

/* Make every "prev" fit and sign the last line, a head, with this key. */
static void forge(char *all, const ab_audit_key *key)
{
	char *line = all, *end = strchr(line, '\n'), hex[65];
	uint8_t hash[32];

	while (end[1]) {
		ab_sha256_portable(line, (size_t)(end - line), hash);
		ab_hex(hash, 32, hex);
		line = end + 1;
		end = strchr(line, '\n');
		memcpy(strstr(line, "\"prev\":\"") + 8, hex, 64);
	}
	memcpy(strstr(line, "\"key\":\"") + 7, key->hex, 64);
	memset(strstr(line, "\"sig\":\"") + 7, '0', 128);
	ck_assert_int_eq(ab_audit_key_sign(key, line, (size_t)(end - line),
					   NULL),
			 0);
}

START_TEST(m05_a_chain_forged_with_another_key_is_found)
{
	agentbox_audit *a = opened(&fx, true);
	ab_audit_key thief = { .fd = -1 };
	char *pin = key_of(a), *anchor, *all;
	size_t n;
	verdict v;

	put_many(a, 5);
	OK(agentbox_audit_close(a, &err));
	anchor = anchor_of(a);
	agentbox_audit_unref(a);
	OK(ab_audit_key_open(&thief, NULL, false, &err));
	all = slurp(fx.log, &n);
	strstr(line_at(all, 3), "file-")[5] = '9';
	forge(all, &thief);
	spill(fx.log, all, n);
	/* the start record still names the true key */
	JUDGED(verify(&fx, NULL, NULL), AGENTBOX_ETAMPERED, "first_bad_seq", 7);
	/* forged from the start it verifies by itself, and by nothing else */
	memcpy(strstr(all, "\"key\":\"") + 7, thief.hex, 64);
	forge(all, &thief);
	spill(fx.log, all, n);
	v = verify(&fx, NULL, NULL);
	ck_assert_int_eq(v.rc, 0);
	ck_assert_str_eq(word(&v, "key"), "unpinned");
	ck_assert_str_eq(word(&v, "tail"), "unanchored");
	json_decref(v.report);
	v = verify(&fx, pin, NULL);
	ck_assert_int_eq(v.rc, AGENTBOX_ETAMPERED);
	json_decref(v.report);
	v = verify(&fx, NULL, anchor);
	ck_assert_int_eq(v.rc, AGENTBOX_ETAMPERED);
	ck_assert_str_eq(word(&v, "reason"), "record differs from the anchor");
	json_decref(v.report);
	ab_audit_key_close(&thief);
	free(all);
	free(pin);
	free(anchor);
}
END_TEST

START_TEST(a_crash_between_head_and_key_is_healed)
{
	agentbox_audit *a = opened(&fx, true);
	char *file, *key = key_of(a);
	size_t n;
	verdict v;

	file = slurp(fx.key, &n);
	put_many(a, 2);
	agentbox_audit_unref(a);
	/* the head is in the log, the key file is still the one before */
	spill(fx.key, file, n);
	a = opened(&fx, true);
	put_many(a, 2);
	agentbox_audit_unref(a);
	v = verify(&fx, key, NULL);
	ck_assert_msg(v.rc == 0, "%s", word(&v, "reason"));
	ck_assert_int_eq(number(&v, "key_breaks"), 0);
	json_decref(v.report);
	free(file);
	free(key);
}
END_TEST

START_TEST(windows_heads_and_syncs_are_due_by_the_clock)
{
	agentbox_audit *a = audit_at(&fx, false);
	static const char deny[] = "{\"verdict\":\"deny\"}";

	ab_audit_set_clock(a, real_clock, boot_clock);
	OK(agentbox_audit_set_coalesce(a, 1, 500, &err));
	OK(agentbox_audit_set_heads(a, 0, 10000, &err));
	OK(agentbox_audit_open(a, &err));
	ck_assert_int_eq(agentbox_audit_get_timeout_ms(a), -1);
	put(a, "check.net", deny);
	ck_assert_int_eq(agentbox_audit_get_timeout_ms(a), 100);
	fake_boot += 100000000;
	ck_assert_int_eq(agentbox_audit_get_timeout_ms(a), 0);
	OK(agentbox_audit_dispatch(a, &err));
	ck_assert_int_eq(agentbox_audit_get_timeout_ms(a), 400);
	put(a, "check.net", deny);
	ck_assert_uint_eq(a->seq, 2);
	fake_boot += 400000000;
	OK(agentbox_audit_dispatch(a, &err));
	ck_assert_uint_eq(a->seq, 3);
	fake_boot += 10000000000ull;
	OK(agentbox_audit_dispatch(a, &err));
	ck_assert_uint_eq(a->seq, 4);
	ck_assert_uint_eq(a->since_head, 0);
	agentbox_audit_unref(a);
}
END_TEST

/* One random edit of p,*n (room for twice as much); false: nothing changed. */
static bool edit(char *p, size_t *n)
{
	size_t from = draw(*n), len = draw(*n - from) + 1;
	char old;

	switch (draw(7)) {
	case 0: /* flip a bit */
		p[from] = (char)(p[from] ^ (1 << draw(8)));
		return true;
	case 1: /* delete a range */
		memmove(p + from, p + from + len, *n - from - len);
		*n -= len;
		return true;
	case 2: /* cut the tail */
		*n = from;
		return true;
	case 3: /* insert a byte */
		memmove(p + from + 1, p + from, *n - from);
		p[from] = (char)draw(256);
		++*n;
		return true;
	case 4: /* duplicate a range */
		memmove(p + from + len, p + from, *n - from);
		*n += len;
		return true;
	case 5: { /* delete whole lines */
		char *a = memchr(p + from, '\n', *n - from), *b;

		if (!a || a + 1 >= p + *n)
			return false;
		b = memchr(a + 1, '\n', (size_t)(p + *n - a - 1));
		memmove(a, b, (size_t)(p + *n - b));
		*n -= (size_t)(b - a);
		return true;
	}
	default: /* swap two bytes */
		len = draw(*n);
		old = p[from];
		if (old == p[len])
			return false;
		p[from] = p[len];
		p[len] = old;
		return true;
	}
}

START_TEST(every_random_edit_is_found_with_an_anchor)
{
	agentbox_audit *a = audit_at(&fx, true);
	char *key, *anchor, *all, *copy;
	size_t n;
	int edits = 0;

	OK(agentbox_audit_set_heads(a, 5, 0, &err));
	OK(agentbox_audit_open(a, &err));
	key = key_of(a);
	put_many(a, 23);
	OK(agentbox_audit_close(a, &err));
	anchor = anchor_of(a);
	agentbox_audit_unref(a);
	all = slurp(fx.log, &n);
	copy = malloc(2 * n + 16);
	for (int i = 0; i < 4000; i++) {
		size_t m = n;
		verdict v;

		memcpy(copy, all, n);
		if (!edit(copy, &m) ||
		    (m == n && memcmp(copy, all, n) == 0))
			continue;
		edits++;
		spill(fx.log, copy, m);
		v = verify(&fx, key, anchor);
		/* bytes past the anchored end that are no line are "torn" */
		ck_assert_msg(v.rc == AGENTBOX_ETAMPERED ||
				      strcmp(word(&v, "status"), "torn") == 0,
			      "edit %d was not found", i);
		if (v.rc == 0)
			ck_assert(m > n && memcmp(copy, all, n) == 0);
		json_decref(v.report);
	}
	ck_assert_int_gt(edits, 3000);
	spill(fx.log, all, n);
	{
		verdict v = verify(&fx, key, anchor);

		ck_assert_str_eq(word(&v, "tail"), "anchored");
		json_decref(v.report);
	}
	free(copy);
	free(all);
	free(key);
	free(anchor);
}
END_TEST

/* A life without memory: every step may fail, none may lie. */
static bool live(void *data)
{
	static const char json[] =
		"{\"verdict\":\"deny\",\"subject\":\"password=FAKE\"}";
	const char *path = fx.log;
	agentbox_context *context = data;
	agentbox_audit *a = NULL;
	agentbox_bytes *b = NULL, *r = NULL;
	int32_t rc;

	(void)unlink(fx.log);
	(void)unlink(fx.key);
	rc = agentbox_audit_new(context, &a, NULL);
	if (rc == 0)
		rc = agentbox_audit_set_path(a, fx.log, NULL);
	if (rc == 0)
		rc = agentbox_audit_set_key_file(a, fx.key, NULL);
	if (rc == 0)
		rc = agentbox_audit_set_coalesce(a, 1, 1000, NULL);
	if (rc == 0)
		rc = agentbox_audit_add_secret(a, "FAKE-SECRET", 11, NULL);
	if (rc == 0)
		rc = agentbox_audit_open(a, NULL);
	for (int i = 0; rc == 0 && i < 3; i++)
		rc = agentbox_audit_append(a, "check.x", json,
					   sizeof(json) - 1, NULL);
	if (rc == 0)
		rc = agentbox_audit_close(a, NULL);
	if (rc == 0)
		rc = agentbox_audit_get_anchor(a, &b, NULL);
	if (rc == 0)
		rc = agentbox_audit_verify(context, &path, 1, NULL,
					   agentbox_bytes_get_data(b), NULL,
					   &r, NULL);
	ck_assert(rc == 0 || rc == AGENTBOX_ENOMEM || rc == AGENTBOX_ESYS);
	agentbox_bytes_free(b);
	agentbox_bytes_free(r);
	r = NULL;
	if (rc == 0)
		rc = agentbox_audit_report(context, &path, 1, NULL, &r, NULL);
	agentbox_bytes_free(r);
	agentbox_audit_unref(a);
	return rc == 0;
}

START_TEST(every_allocation_may_fail)
{
	uint64_t failed = ab_torture(live, fx.context, 4000, NULL);

	ck_assert(!ab_torture_available() || failed > 20);
}
END_TEST

/* A key that has signed: what fails to read it must not make a new one. */
static bool open_used_key(void *data)
{
	ab_audit_key key;
	char *before = data, *after;
	int32_t rc = ab_audit_key_open(&key, fx.key, false, NULL);
	size_t n = 0;

	if (rc == 0)
		ab_audit_key_close(&key);
	ck_assert(rc == 0 || rc == AGENTBOX_ENOMEM);
	after = slurp(fx.key, &n);
	ck_assert_uint_eq(n, 1024);
	ck_assert_mem_eq(before, after, 1024);
	free(after);
	return rc == 0;
}

START_TEST(a_shortage_never_loses_a_key_that_has_signed)
{
	agentbox_audit *a = opened(&fx, true);
	size_t n = 0;
	char *before;

	put_many(a, 3);
	OK(agentbox_audit_close(a, &err));
	agentbox_audit_unref(a);
	before = slurp(fx.key, &n);
	ck_assert_uint_eq(n, 1024);
	uint64_t failed = ab_torture(open_used_key, before, 100, NULL);
	ck_assert(!ab_torture_available() || failed > 1);
	free(before);
}
END_TEST

static void *counted_malloc(size_t n)
{
	return ab_realloc(NULL, n, 1);
}

/* jansson short of memory: the record is whole, or it is refused. */
static bool append_long(void *data)
{
	static char json[900];
	agentbox_audit *a = data;
	agentbox_error *err = NULL;
	int32_t rc;

	memset(json, 'x', sizeof(json));
	memcpy(json, "{\"argv\":[\"", 10);
	memcpy(json + sizeof(json) - 4, "\"]}", 3);
	rc = agentbox_audit_append(a, "note", json, sizeof(json) - 1, &err);
	ck_assert(rc == 0 || rc == AGENTBOX_ENOMEM || rc == AGENTBOX_EPARSE);
	agentbox_error_free(err);
	return rc == 0;
}

START_TEST(a_shortage_never_shortens_what_is_recorded)
{
	agentbox_audit *a = audit_at(&fx, false);
	size_t n = 0;
	char *all, *save = NULL;
	int records = 0;

	if (!ab_torture_available()) {
		agentbox_audit_unref(a);
		ab_test_skip("torture", "no fault injection in this build");
		return;
	}
	OK(agentbox_audit_open(a, &err));
	/* this process only: jansson's memory is counted with ours */
	json_set_alloc_funcs(counted_malloc, free);
	ck_assert_uint_ge(ab_torture(append_long, a, 4000, NULL), 5);
	json_set_alloc_funcs(malloc, free);
	agentbox_audit_unref(a);
	all = slurp(fx.log, &n);
	for (char *line = strtok_r(all, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save)) {
		json_t *doc = json_loads(line, 0, NULL);
		json_t *argv = json_object_get(doc, "argv");

		if (strcmp(field(doc, "type"), "note") == 0) {
			ck_assert_uint_eq(json_array_size(argv), 1);
			ck_assert_uint_eq(json_string_length(json_array_get(
						  argv, 0)),
					  900 - 10 - 4);
			records++;
		}
		json_decref(doc);
	}
	ck_assert_int_ge(records, 1);
	free(all);
}
END_TEST

/* What a record holds differs in no character from canonical text. */
START_TEST(the_record_writer_and_the_canonical_writer_agree)
{
	char buf[256];

	for (unsigned c = 1; c < 0x110000; c += c < 0x3000 ? 1 : 251) {
		ab_audit_writer w = { .buf = buf, .max = sizeof(buf) };
		agentbox_bytes *b = NULL;
		json_t *doc;

		if (c >= 0xd800 && c < 0xe000)
			continue;
		if (c < 0x10000)
			snprintf(buf, sizeof(buf),
				 "{\"k\\u%04x\":[\"\\u%04x\"]}", c, c);
		else
			snprintf(buf, sizeof(buf),
				 "{\"k\":[\"\\u%04x\\u%04x\",-%u]}",
				 0xd800 + ((c - 0x10000) >> 10),
				 0xdc00 + ((c - 0x10000) & 0x3ff), c);
		doc = json_loads(buf, 0, NULL);
		ck_assert_msg(doc != NULL, "%s", buf);
		ab_audit_write_value(&w, doc, 0);
		ck_assert_int_eq(ab_json_canonical(doc, &b, NULL), 0);
		ck_assert_msg(w.len == agentbox_bytes_get_size(b) &&
				      memcmp(buf, agentbox_bytes_get_data(b),
					     w.len) == 0,
			      "U+%04X: %.*s and %s", c, (int)w.len, buf,
			      agentbox_bytes_get_data(b));
		agentbox_bytes_free(b);
		json_decref(doc);
	}
}
END_TEST

/* What was there before stays, and so does a log that is only continued. */
START_TEST(a_log_that_could_not_be_begun_leaves_no_file)
{
	agentbox_audit *a = audit_at(&fx, true);
	struct stat st;

	OK(agentbox_audit_set_anchor_file(a, fx.anchor, &err));
	ck_assert_int_eq(mkdir(fx.anchor, 0700), 0);
	ck_assert_int_eq(agentbox_audit_open(a, NULL), AGENTBOX_EACCES);
	ck_assert_int_eq(access(fx.log, F_OK), -1);
	close(open(fx.log, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
	ck_assert_int_eq(agentbox_audit_open(a, NULL), AGENTBOX_EACCES);
	ck_assert_int_eq(stat(fx.log, &st), 0);
	ck_assert_int_eq(st.st_size, 0);
	ck_assert_int_eq(rmdir(fx.anchor), 0);
	OK(agentbox_audit_open(a, &err));
	OK(agentbox_audit_close(a, &err));
	agentbox_audit_unref(a);
}
END_TEST

static int32_t count_line(void *data, const char *line, size_t n)
{
	(void)line;
	(void)n;
	++*(int *)data;
	return 0;
}

START_TEST(a_pipe_that_nobody_writes_to_keeps_no_reader)
{
	const char *path = fx.log;
	int lines = 0;
	verdict v;

	ck_assert_int_eq(mkfifo(fx.log, 0600), 0);
	v = verify(&fx, NULL, NULL);
	ck_assert_int_eq(v.rc, AGENTBOX_ETAMPERED);
	json_decref(v.report);
	OK(agentbox_audit_show(fx.context, &path, 1, NULL, count_line, &lines,
			       &err));
	ck_assert_int_eq(lines, 0);
}
END_TEST

START_TEST(a_filter_that_would_match_nothing_is_refused)
{
	static const struct {
		const char *filter;
		int32_t want;
	} rows[] = {
		{ "{\"verdict\":\"deny\"}", 0 },
		{ "{\"verdict\":\"denied\"}", AGENTBOX_EINVAL },
		{ "{\"since\":\"2026\"}", 0 },
		{ "{\"since\":\"2026-01-31T12:00:00.000000Z\"}", 0 },
		{ "{\"until\":\"2026-01-31\"}", 0 },
		{ "{\"since\":\"202\"}", AGENTBOX_EINVAL },
		{ "{\"since\":\"\"}", AGENTBOX_EINVAL },
		{ "{\"until\":\"yesterday\"}", AGENTBOX_EINVAL },
		{ "{\"until\":\"2026-01-31T12:00:00.0000000Z\"}",
		  AGENTBOX_EINVAL },
		{ "{\"until\":\"2026-01-31T12:00:00.000000Zx\"}",
		  AGENTBOX_EINVAL },
	};
	agentbox_audit *a = audit_at(&fx, false);
	const char *path = fx.log;
	int lines = 0;

	OK(agentbox_audit_open(a, &err));
	agentbox_audit_unref(a);
	for (size_t i = 0; i < AB_ARRAY_LEN(rows); i++)
		ck_assert_msg(agentbox_audit_show(fx.context, &path, 1,
						  rows[i].filter, count_line,
						  &lines, NULL) ==
				      rows[i].want, "%s", rows[i].filter);
}
END_TEST

#define ADD(name) tcase_add_test(tc, name)

int main(void)
{
	TCase *tc = audit_cases(setup, teardown);

	ADD(both_hashes_agree_on_every_length);
	ADD(the_scanner_and_jansson_agree);
	ADD(m06_the_present_key_cannot_sign_an_earlier_head);
	ADD(m05_a_chain_forged_with_another_key_is_found);
	ADD(m10_a_clock_that_goes_back_is_flagged_and_not_failed);
	ADD(m12_vectors_have_the_same_bytes_in_every_language);
	ADD(a_crash_between_head_and_key_is_healed);
	ADD(windows_heads_and_syncs_are_due_by_the_clock);
	ADD(every_random_edit_is_found_with_an_anchor);
	ADD(every_allocation_may_fail);
	ADD(a_shortage_never_loses_a_key_that_has_signed);
	ADD(a_shortage_never_shortens_what_is_recorded);
	ADD(the_record_writer_and_the_canonical_writer_agree);
	ADD(a_log_that_could_not_be_begun_leaves_no_file);
	ADD(a_pipe_that_nobody_writes_to_keeps_no_reader);
	ADD(a_filter_that_would_match_nothing_is_refused);
	return audit_run("audit_internal", tc);
}
