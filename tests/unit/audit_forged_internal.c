/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Logs that somebody wrote who may write the files and has no key: what he
 * can make of public keys, of a second file, of anchors and of a beginning
 * that is missing. And a writer that finds something else than a log.
 */
#include "config.h"

#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "audit_help.h"
#include "base/alloc.h"

static fixture fx;
static uint64_t fake_real = 1700000000000000000ull;

static uint64_t real_clock(void)
{
	return fake_real;
}

static void setup(void)
{
	fixture_begin(&fx);
}

static void teardown(void)
{
	fixture_end(&fx);
}

/* A log made by hand: canonical lines that follow each other. */
typedef struct forged {
	char *text;
	size_t n;
	uint64_t seq;
	char prev[AB_AUDIT_HASH_HEX], chain[AB_ID_SIZE];
	ab_audit_key thief;
} forged;

static void forged_begin(forged *g)
{
	memset(g, 0, sizeof(*g));
	memset(g->prev, '0', sizeof(g->prev) - 1);
	memset(g->chain, 'c', sizeof(g->chain) - 1);
	g->text = calloc(1, 1);
	OK(ab_audit_key_open(&g->thief, NULL, false, &err));
}

static void forged_end(forged *g)
{
	ab_audit_key_close(&g->thief);
	free(g->text);
}

/* `log` is what stands between its braces; NULL: a plain record. */
static void line(forged *g, const char *type, const char *log, bool is_head)
{
	uint8_t hash[AB_SHA256_SIZE];
	char *now;
	int n;

	n = asprintf(&now,
		     "{\"actor\":{\"box\":\"\",\"euid\":0,\"generation\":0,"
		     "\"pid\":1,\"uid\":0}%s%s%s,\"mono_ns\":1,\"prev\":\"%s\","
		     "\"seq\":%llu,\"timestamp\":\"2026-01-31T12:00:00.000000Z"
		     "\",\"type\":\"%s\"}\n", log ? ",\"log\":{" : "",
		     log ? log : "", log ? "}" : "", g->prev,
		     (unsigned long long)++g->seq, type);
	ck_assert_int_gt(n, 0);
	if (is_head)
		OK(ab_audit_key_sign(&g->thief, now, (size_t)n - 1, &err));
	ab_sha256_portable(now, (size_t)n - 1, hash);
	ab_hex(hash, sizeof(hash), g->prev);
	g->text = realloc(g->text, g->n + (size_t)n + 1);
	memcpy(g->text + g->n, now, (size_t)n + 1);
	g->n += (size_t)n;
	free(now);
}

static void start_line(forged *g, const char *key)
{
	char log[300];

	snprintf(log, sizeof(log),
		 "\"chain\":\"%s\",\"format\":1,\"key\":\"%s\"", g->chain, key);
	line(g, "audit.start", log, false);
}

/* Signed by the thief; `next` NULL: his own next key. */
static void head_line(forged *g, const char *next)
{
	char log[700], own[AB_AUDIT_KEY_HEX], zeros[129];

	OK(ab_audit_key_next(&g->thief, own, &err));
	memset(zeros, '0', 128);
	zeros[128] = '\0';
	snprintf(log, sizeof(log),
		 "\"chain\":\"%s\",\"key\":\"%s\",\"next\":\"%s\","
		 "\"reason\":\"close\",\"sig\":\"%s\"",
		 g->chain, g->thief.hex, next ? next : own, zeros);
	line(g, "audit.head", log, true);
	OK(ab_audit_key_advance(&g->thief, false, &err));
}

static void open_line(forged *g, const char *key)
{
	char log[300];

	snprintf(log, sizeof(log), "\"chain\":\"%s\",\"key\":\"%s\"", g->chain,
		 key);
	line(g, "audit.open", log, false);
}

static void link_line(forged *g, const char *key)
{
	char log[500];

	snprintf(log, sizeof(log),
		 "\"chain\":\"%s\",\"count\":%llu,\"file\":2,\"head\":\"%s\","
		 "\"key\":\"%s\",\"pruned\":0",
		 g->chain, (unsigned long long)g->seq, g->prev, key);
	line(g, "audit.link", log, false);
}

static void notes(forged *g, int n)
{
	while (n-- > 0)
		line(g, "note", NULL, false);
}

static char *anchor_at(const char *chain, uint64_t count, const char *head,
		       const char *key)
{
	char *out;

	ck_assert_int_gt(asprintf(&out,
				  "{\"agentbox_audit_anchor\":1,\"chain\":"
				  "\"%s\",\"count\":%llu,\"head\":\"%s\","
				  "\"key\":\"%s\"}",
				  chain, (unsigned long long)count, head, key),
			 0);
	return out;
}

static const char other_key[] =
	"d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a";

START_TEST(m05_a_stranger_who_names_the_pinned_key_has_signed_nothing)
{
	forged g;
	verdict v;

	forged_begin(&g);
	start_line(&g, g.thief.hex);
	notes(&g, 3);
	head_line(&g, NULL);
	notes(&g, 2);
	head_line(&g, other_key);
	spill(fx.log, g.text, g.n);
	JUDGED(verify(&fx, NULL, NULL), 0, "signed_seq", 8);
	v = verify(&fx, other_key, NULL);
	ck_assert_int_eq(v.rc, AGENTBOX_ETAMPERED);
	ck_assert_str_eq(word(&v, "status"), "tampered");
	ck_assert_int_eq(number(&v, "signed_seq"), 0);
	ck_assert_int_eq(number(&v, "unsigned_tail"), 8);
	json_decref(v.report);
	forged_end(&g);
}
END_TEST

/* The shortest forgery: the public key stands in the first record. */
START_TEST(m05_a_stranger_who_begins_with_the_pinned_key_has_signed_nothing)
{
	forged g;

	forged_begin(&g);
	start_line(&g, other_key);
	notes(&g, 3);
	spill(fx.log, g.text, g.n);
	JUDGED(verify(&fx, other_key, NULL), AGENTBOX_ETAMPERED,
	       "first_bad_seq", 1);
	forged_end(&g);
}
END_TEST

START_TEST(m05_a_stranger_who_opens_with_the_pinned_key_has_signed_nothing)
{
	forged g;

	forged_begin(&g);
	start_line(&g, g.thief.hex);
	notes(&g, 3);
	head_line(&g, NULL);
	open_line(&g, other_key);
	spill(fx.log, g.text, g.n);
	JUDGED(verify(&fx, other_key, NULL), AGENTBOX_ETAMPERED,
	       "signed_seq", 0);
	forged_end(&g);
}
END_TEST

/* The honest case of the same shape. */
START_TEST(a_key_taken_right_after_open_vouches_for_what_follows)
{
	agentbox_audit *a = opened(&fx, true);
	char *key, *all;
	size_t n;
	verdict v;

	put_many(a, 3);
	OK(agentbox_audit_close(a, &err));
	agentbox_audit_unref(a);
	a = opened(&fx, true);
	key = key_of(a);
	put_many(a, 2);
	OK(agentbox_audit_flush(a, &err));
	/* before its first head nothing tells it from a stranger's log */
	JUDGED(verify(&fx, key, NULL), AGENTBOX_ETAMPERED, "signed_seq", 0);
	OK(agentbox_audit_close(a, &err));
	agentbox_audit_unref(a);
	JUDGED(verify(&fx, key, NULL), 0, "unsigned_tail", 0);
	/* and a crash after it is no tampering */
	all = slurp(fx.log, &n);
	all[n] = '{';
	spill(fx.log, all, n + 1);
	v = verify(&fx, key, NULL);
	ck_assert_int_eq(v.rc, 0);
	ck_assert_str_eq(word(&v, "status"), "torn");
	json_decref(v.report);
	free(all);
	free(key);
}
END_TEST

/* A genuine first file, and a second that the thief begins anew. */
START_TEST(m05_a_second_start_brings_no_new_key)
{
	agentbox_audit *a = opened(&fx, true);
	char *pin = key_of(a), *all, first[620];
	const char *paths[2] = { first, fx.log };
	uint8_t hash[AB_SHA256_SIZE];
	json_t *doc;
	forged g;
	size_t n;

	put_many(a, 3);
	OK(agentbox_audit_close(a, &err));
	agentbox_audit_unref(a);
	snprintf(first, sizeof(first), "%s.000001", fx.log);
	ck_assert_int_eq(rename(fx.log, first), 0);
	forged_begin(&g);
	all = slurp(first, &n);
	ab_sha256_portable(line_at(all, 4), strlen(line_at(all, 4)) - 1, hash);
	ab_hex(hash, sizeof(hash), g.prev);
	g.seq = 5;
	doc = record_at(first, 0);
	memcpy(g.chain, field(json_object_get(doc, "log"), "chain"),
	       sizeof(g.chain));
	json_decref(doc);
	start_line(&g, g.thief.hex);
	notes(&g, 2);
	head_line(&g, NULL);
	spill(fx.log, g.text, g.n);
	JUDGED(verify_paths(&fx, paths, 2, pin, NULL, NULL),
	       AGENTBOX_ETAMPERED, "first_bad_seq", 6);
	forged_end(&g);
	free(all);
	free(pin);
}
END_TEST

START_TEST(m04_a_log_that_begins_after_the_anchored_record_is_tampered)
{
	char *anchor, zeros[65];
	forged g;
	verdict v;

	memset(zeros, '0', 64);
	zeros[64] = '\0';
	forged_begin(&g);
	g.seq = 1000;
	link_line(&g, g.thief.hex);
	notes(&g, 3);
	head_line(&g, NULL);
	spill(fx.log, g.text, g.n);
	anchor = anchor_at(g.chain, 500, g.prev, other_key);
	JUDGED(verify(&fx, NULL, anchor), AGENTBOX_ETAMPERED,
	       "first_bad_seq", 1001);
	free(anchor);
	/* the anchored record is the last that is not here */
	anchor = anchor_at(g.chain, 1000, zeros, other_key);
	v = verify(&fx, NULL, anchor);
	ck_assert_int_eq(v.rc, 0);
	ck_assert_str_eq(word(&v, "tail"), "past-anchor");
	json_decref(v.report);
	free(anchor);
	anchor = anchor_at(g.chain, 1000, other_key, other_key);
	v = verify(&fx, NULL, anchor);
	ck_assert_int_eq(v.rc, AGENTBOX_ETAMPERED);
	json_decref(v.report);
	free(anchor);
	forged_end(&g);
}
END_TEST

static const struct {
	const char *label, *text;
	int32_t rc;
} anchors[] = {
	{ "empty", "", AGENTBOX_EPARSE },
	{ "no object", "[]", AGENTBOX_EPARSE },
	{ "nothing in it", "{}", AGENTBOX_EPARSE },
	{ "count 0", "{\"agentbox_audit_anchor\":1,\"chain\":\"C\",\"count\":"
	  "0,\"head\":\"H\",\"key\":\"H\"}", AGENTBOX_EPARSE },
	{ "count below 0", "{\"agentbox_audit_anchor\":1,\"chain\":\"C\","
	  "\"count\":-4,\"head\":\"H\",\"key\":\"H\"}", AGENTBOX_EPARSE },
	{ "count real", "{\"agentbox_audit_anchor\":1,\"chain\":\"C\","
	  "\"count\":1e0,\"head\":\"H\",\"key\":\"H\"}", AGENTBOX_EPARSE },
	{ "count a string", "{\"agentbox_audit_anchor\":1,\"chain\":\"C\","
	  "\"count\":\"4\",\"head\":\"H\",\"key\":\"H\"}", AGENTBOX_EPARSE },
	{ "count too large", "{\"agentbox_audit_anchor\":1,\"chain\":\"C\","
	  "\"count\":9223372036854775808,\"head\":\"H\",\"key\":\"H\"}",
	  AGENTBOX_EPARSE },
	{ "count twice", "{\"agentbox_audit_anchor\":1,\"chain\":\"C\","
	  "\"count\":4,\"count\":1,\"head\":\"H\",\"key\":\"H\"}",
	  AGENTBOX_EPARSE },
	{ "another version", "{\"agentbox_audit_anchor\":2,\"chain\":\"C\","
	  "\"count\":4,\"head\":\"H\",\"key\":\"H\"}", AGENTBOX_EPARSE },
	{ "short head", "{\"agentbox_audit_anchor\":1,\"chain\":\"C\","
	  "\"count\":4,\"head\":\"0\",\"key\":\"H\"}", AGENTBOX_EPARSE },
	{ "two documents", "{\"agentbox_audit_anchor\":1,\"chain\":\"C\","
	  "\"count\":4,\"head\":\"H\",\"key\":\"H\"}{}", AGENTBOX_EPARSE },
	{ "another chain", "{\"agentbox_audit_anchor\":1,\"chain\":\"D\","
	  "\"count\":4,\"head\":\"H\",\"key\":\"H\"}", AGENTBOX_ETAMPERED },
	{ "the last record", "{\"agentbox_audit_anchor\":1,\"chain\":\"C\","
	  "\"count\":4,\"head\":\"H\",\"key\":\"H\"}", 0 },
	{ "one more record", "{\"agentbox_audit_anchor\":1,\"chain\":\"C\","
	  "\"count\":5,\"head\":\"H\",\"key\":\"H\"}", AGENTBOX_ETAMPERED },
	{ "one record less", "{\"agentbox_audit_anchor\":1,\"chain\":\"C\","
	  "\"count\":3,\"head\":\"H\",\"key\":\"H\"}", AGENTBOX_ETAMPERED },
	{ "all there will ever be", "{\"agentbox_audit_anchor\":1,\"chain\":"
	  "\"C\",\"count\":9223372036854775807,\"head\":\"H\",\"key\":\"H\"}",
	  AGENTBOX_ETAMPERED },
};

/* C: the chain, D: another, H: the head of the log. */
static char *filled(const char *text, const forged *g)
{
	char *out = calloc(1, strlen(text) + 400), *at = out;

	for (; *text; text++) {
		if (text[0] != '"' || !strchr("CDH", text[1]) ||
		    text[2] != '"') {
			*at++ = *text;
			continue;
		}
		at += sprintf(at, "\"%s\"", text[1] == 'H' ? g->prev : g->chain);
		if (text[1] == 'D')
			at[-2] = 'd';
		text += 2;
	}
	return out;
}

START_TEST(anchors_are_what_they_are_or_refused)
{
	char *anchor;
	forged g;
	verdict v;

	forged_begin(&g);
	start_line(&g, g.thief.hex);
	notes(&g, 3);
	spill(fx.log, g.text, g.n);
	anchor = filled(anchors[_i].text, &g);
	v = verify(&fx, NULL, anchor);
	ck_assert_msg(v.rc == anchors[_i].rc, "%s: %s", anchors[_i].label,
		      agentbox_error_name(v.rc));
	json_decref(v.report);
	free(anchor);
	forged_end(&g);
}
END_TEST

/* What stands where the log is to be, and whether it is touched. */
static const struct {
	const char *text;
	size_t n;
	int32_t rc;
} finds[] = {
	{ "{\"important\": true}", 19, AGENTBOX_ETAMPERED },
	{ "x", 1, AGENTBOX_ETAMPERED },
	{ "two lines\nof text", 17, AGENTBOX_ETAMPERED },
	{ "\n", 1, AGENTBOX_ETAMPERED },
	{ "{\"actor\":{\"box\":\"shop\"},\"more", 30, 0 },
	{ "{\"actor\":{\"bx", 13, AGENTBOX_ETAMPERED },
	{ "{\"act", 5, 0 },
	{ "\0\0\0\0\0\0\0\0", 8, 0 },
	{ "\0\0\0\0x", 5, AGENTBOX_ETAMPERED },
	{ "", 0, 0 },
};

START_TEST(a_file_that_is_no_log_is_left_as_it_is)
{
	agentbox_audit *a = audit_at(&fx, false);
	char *now;
	size_t n;

	spill(fx.log, finds[_i].text, finds[_i].n);
	ck_assert_int_eq(agentbox_audit_open(a, NULL), finds[_i].rc);
	if (finds[_i].rc) {
		now = slurp(fx.log, &n);
		ck_assert_uint_eq(n, finds[_i].n);
		ck_assert_mem_eq(now, finds[_i].text, n);
		free(now);
	}
	agentbox_audit_unref(a);
}
END_TEST

START_TEST(what_is_no_file_is_no_log)
{
	const char *const places[] = { fx.log, fx.key, fx.anchor };

	for (int kind = 0; kind < 4; kind++) {
		for (size_t i = 0; i < 3; i++) {
			agentbox_audit *a = audit_at(&fx, true);

			OK(agentbox_audit_set_anchor_file(a, fx.anchor, &err));
			unlink(fx.log);
			unlink(fx.key);
			unlink(fx.anchor);
			if (kind == 0)
				ck_assert_int_eq(mkfifo(places[i], 0600), 0);
			else if (kind == 1)
				ck_assert_int_eq(mkdir(places[i], 0700), 0);
			else
				ck_assert_int_eq(
					symlink(kind == 2 ? "nowhere" :
							    "/dev/null",
						places[i]), 0);
			ck_assert_int_lt(agentbox_audit_open(a, NULL), 0);
			ck_assert_int_eq(access(fx.dir, F_OK), 0);
			agentbox_audit_unref(a);
			if (kind == 1)
				ck_assert_int_eq(rmdir(places[i]), 0);
			else
				ck_assert_int_eq(unlink(places[i]), 0);
		}
	}
}
END_TEST

START_TEST(a_removed_log_is_not_written_to_any_more)
{
	agentbox_audit *a = opened(&fx, false);

	put(a, "note", NULL);
	ck_assert_int_eq(unlink(fx.log), 0);
	ck_assert_int_eq(agentbox_audit_append(a, "note", NULL, 0, NULL),
			 AGENTBOX_EBUSY);
	ck_assert_int_eq(agentbox_audit_append(a, "note", NULL, 0, NULL),
			 AGENTBOX_ECLOSED);
	agentbox_audit_unref(a);
	/* replaced is removed */
	a = opened(&fx, false);
	spill(fx.anchor, "", 0);
	ck_assert_int_eq(rename(fx.anchor, fx.log), 0);
	ck_assert_int_eq(agentbox_audit_append(a, "note", NULL, 0, NULL),
			 AGENTBOX_EBUSY);
	agentbox_audit_unref(a);
}
END_TEST

START_TEST(a_key_file_whose_maker_was_killed_is_used)
{
	agentbox_audit *a = opened(&fx, true);
	char *key = key_of(a), *after;

	agentbox_audit_unref(a);
	ck_assert_int_eq(unlink(fx.log), 0);
	ck_assert_int_eq(unlink(fx.key), 0);
	a = opened(&fx, true);
	free(key);
	key = key_of(a);
	/* as after the first of the two writes that make a new key file */
	{
		size_t n;
		char *slots = slurp(fx.key, &n);

		ck_assert_uint_eq(n, 1024);
		agentbox_audit_unref(a);
		ck_assert_int_eq(unlink(fx.log), 0);
		spill(fx.key, slots, 512);
		free(slots);
	}
	a = opened(&fx, true);
	after = key_of(a);
	ck_assert_str_eq(key, after);
	put(a, "note", NULL);
	OK(agentbox_audit_close(a, &err));
	agentbox_audit_unref(a);
	JUDGED(verify(&fx, key, NULL), 0, "unsigned_tail", 0);
	a = opened(&fx, true);
	agentbox_audit_unref(a);
	free(after);
	free(key);
}
END_TEST

START_TEST(m10_a_clock_that_went_back_between_two_runs_is_flagged)
{
	json_t *doc;

	for (int i = 0; i < 3; i++) {
		agentbox_audit *a = audit_at(&fx, false);

		fake_real += i == 1 ? -3600000000000ll : 1000000000ll;
		ab_audit_set_clock(a, real_clock, ab_clock_boot_ns);
		OK(agentbox_audit_open(a, &err));
		/* the second run was killed: no head at its end */
		if (i != 1)
			OK(agentbox_audit_close(a, &err));
		agentbox_audit_unref(a);
	}
	doc = record_at(fx.log, 2);
	ck_assert_str_eq(field(doc, "type"), "audit.open");
	ck_assert_str_eq(field(doc, "clock"), "backwards");
	json_decref(doc);
	doc = record_at(fx.log, 4);
	ck_assert_str_eq(field(doc, "type"), "audit.open");
	ck_assert_str_eq(field(doc, "clock"), "");
	json_decref(doc);
}
END_TEST

/*
 * A writer with everything on, until somebody kills it. It asserts nothing:
 * what Check writes down for each assertion would be cut by the kill.
 */
static void write_for_ever(void)
{
	agentbox_audit *a = NULL;
	char big[2048];

	memset(big, 'x', sizeof(big));
	memcpy(big, "{\"subject\":\"", 12);
	memcpy(big + sizeof(big) - 3, "\"}", 3);
	if (agentbox_audit_new(fx.context, &a, NULL) ||
	    agentbox_audit_set_path(a, fx.log, NULL) ||
	    agentbox_audit_set_key_file(a, fx.key, NULL) ||
	    agentbox_audit_set_anchor_file(a, fx.anchor, NULL) ||
	    agentbox_audit_set_rotation(a, 262144, 0, NULL) ||
	    agentbox_audit_set_heads(a, 3, 60000, NULL) ||
	    agentbox_audit_set_sync(a, AGENTBOX_AUDIT_SYNC_NEVER, 0, NULL) ||
	    agentbox_audit_open(a, NULL))
		return;
	while (agentbox_audit_append(a, "note", big, strlen(big), NULL) == 0)
		;
}

static char *anchor_text(void)
{
	size_t n;

	return access(fx.anchor, F_OK) == 0 ? slurp(fx.anchor, &n) : NULL;
}

/* All files of the log in their order, the newest last. */
static verdict verify_all(const char *key, const char *anchor)
{
	static char names[4000][640];
	static const char *paths[4001];
	size_t count = 0;

	for (int i = 1; i <= 4000; i++) {
		snprintf(names[count], sizeof(names[0]), "%s.%06d", fx.log, i);
		if (access(names[count], F_OK) != 0)
			break;
		paths[count] = names[count];
		count++;
	}
	paths[count++] = fx.log;
	return verify_paths(&fx, paths, count, key, anchor, NULL);
}

/* Waits until `path` is there and is no more what `before` says. */
static bool has_changed(const char *path, const struct stat *before)
{
	struct timespec nap = { 0, 100000 };
	struct stat now;

	for (int i = 0; i < 100000; i++) {
		if (stat(path, &now) == 0 && now.st_size > 0 &&
		    (now.st_ino != before->st_ino ||
		     now.st_size != before->st_size))
			return true;
		nanosleep(&nap, NULL);
	}
	return false;
}

START_TEST(m08_a_writer_killed_at_any_moment_leaves_a_log_that_goes_on)
{
	char *key = NULL;
	char old[640];

	snprintf(old, sizeof(old), "%s.000001", fx.log);
	for (int i = 0; i < 61; i++) {
		struct timespec nap = { 0, (i % 12) * 1500000 + 200000 };
		struct stat before = { 0 };
		char *anchor;
		verdict v;

		(void)stat(fx.log, &before);
		pid_t pid = fork();

		ck_assert_int_ge(pid, 0);
		if (pid == 0) {
			write_for_ever();
			_exit(1);
		}
		/* Killed while it opens in the rounds that are even, while it
		   writes in the others, however slow the machine is; the last
		   one has begun a second file. */
		bool wrote = (i % 2 == 0 && i < 60) ||
			     has_changed(fx.log, &before);
		if (i == 60)
			wrote &= has_changed(old, &(struct stat){ 0 });
		nanosleep(&nap, NULL);
		ck_assert_int_eq(kill(pid, SIGKILL), 0);
		ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
		ck_assert_msg(wrote, "round %d: nothing was written", i);
		if (access(fx.log, F_OK) != 0)
			continue;
		anchor = anchor_text();
		if (anchor && *anchor) {
			v = verify_all(NULL, anchor);
			ck_assert_msg(v.rc == 0, "round %d: %s", i,
				      word(&v, "reason"));
			json_decref(v.report);
		}
		free(anchor);
	}
	/* and it is one chain of keys from the first record on */
	{
		char name[640];
		json_t *doc;

		snprintf(name, sizeof(name), "%s.000001", fx.log);
		doc = record_at(access(name, F_OK) == 0 ? name : fx.log, 0);
		key = strdup(field(json_object_get(doc, "log"), "key"));
		json_decref(doc);
	}
	agentbox_audit_unref(opened(&fx, true));
	{
		verdict v = verify_all(key, NULL);

		ck_assert_msg(v.rc == 0, "%s", word(&v, "reason"));
		ck_assert_str_eq(word(&v, "status"), "verified");
		ck_assert_int_eq(number(&v, "key_breaks"), 0);
		ck_assert_int_gt(number(&v, "signed_seq"), 0);
		ck_assert_int_gt(number(&v, "links"), 0);
		json_decref(v.report);
	}
	free(key);
}
END_TEST

START_TEST(a_log_is_never_called_tampered_while_it_is_written)
{
	pid_t pid;
	int good = 0;

	agentbox_audit_unref(opened(&fx, true));
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		write_for_ever();
		_exit(1);
	}
	for (int i = 0; i < 40; i++) {
		/* one file: one that is rotated away meanwhile is another */
		int fd = open(fx.log, O_RDONLY | O_CLOEXEC);
		ab_audit_checker c = { 0 };

		ck_assert_int_ge(fd, 0);
		(void)ab_audit_checker_file(&c, fd, true);
		ck_assert_msg(!c.is_bad, "%s", c.reason);
		good++;
		close(fd);
	}
	ck_assert_int_eq(kill(pid, SIGKILL), 0);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	ck_assert_int_eq(good, 40);
}
END_TEST

/* What a host that has closed these prints is not written into a log. */
START_TEST(a_log_takes_no_standard_stream)
{
	int status = 0;
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		agentbox_audit *a = audit_at(&fx, true);
		int bad;

		OK(agentbox_audit_set_anchor_file(a, fx.anchor, &err));
		close(0);
		close(1);
		close(2);
		bad = agentbox_audit_open(a, NULL) != 0;
		for (int fd = 0; fd < 3; fd++)
			bad |= write(fd, "x", 1) != -1;
		bad |= agentbox_audit_append(a, "note", NULL, 0, NULL) != 0;
		bad |= agentbox_audit_close(a, NULL) != 0;
		_exit(bad);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
}
END_TEST

/* {"fields": ...} and what becomes of it */
static const struct {
	const char *json;
	int32_t rc;
} fields[] = {
	{ "{\"a\":1,\"a\":2}", AGENTBOX_EPARSE },
	{ "{\"a\":{\"b\":1,\"\\u0062\":2}}", AGENTBOX_EPARSE },
	{ "{\"a\":1.0}", AGENTBOX_EPARSE },
	{ "{\"a\":1e2}", AGENTBOX_EPARSE },
	{ "{\"a\":9223372036854775807}", 0 },
	{ "{\"a\":9223372036854775808}", AGENTBOX_EPARSE },
	{ "{\"a\":-9223372036854775808}", 0 },
	{ "{\"a\":-9223372036854775809}", AGENTBOX_EPARSE },
	{ "{\"a\":9007199254740993}", 0 },
	{ "{\"a\":-0}", 0 },
	{ "{\"a\":\"\\u0000\"}", AGENTBOX_EPARSE },
	{ "{\"a\":\"\\ud800\"}", AGENTBOX_EPARSE },
	{ "{\"a\":\"\xff\"}", AGENTBOX_EPARSE },
	{ "{\"a\":\"\xc0\xaf\"}", AGENTBOX_EPARSE },
	{ "{\"a\":\"\xed\xa0\x80\"}", AGENTBOX_EPARSE },
	{ "{\"a\":\"\x1b[2J\"}", AGENTBOX_EPARSE },
	{ "{\"a\":\"\\u001b[2J\\u009b\\u202e\"}", 0 },
	{ "{\"seq\":1}", AGENTBOX_EINVAL },
	{ "{\"prev\":\"x\"}", AGENTBOX_EINVAL },
	{ "{\"log\":{}}", AGENTBOX_EINVAL },
	{ "{\"A\":1}", AGENTBOX_EINVAL },
	{ "{\"\":1}", AGENTBOX_EINVAL },
	{ "{\"a b\":1}", AGENTBOX_EINVAL },
	{ "{\"\\u0061\":1}", 0 },
	{ "[]", AGENTBOX_EINVAL },
	{ "{\"a\":1} {\"b\":2}", AGENTBOX_EPARSE },
	{ "\xef\xbb\xbf{}", AGENTBOX_EPARSE },
};

START_TEST(fields_are_exact_or_refused)
{
	agentbox_audit *a = opened(&fx, false);
	size_t n = strlen(fields[_i].json);
	char *line;
	verdict v;

	ck_assert_msg(agentbox_audit_append(a, "note", fields[_i].json, n,
					    NULL) == fields[_i].rc,
		      "%s", fields[_i].json);
	agentbox_audit_unref(a);
	line = slurp(fx.log, &n);
	for (size_t i = 0; i < n; i++)
		ck_assert(line[i] == '\n' ||
			  (line[i] >= 0x20 && line[i] < 0x7f));
	if (strstr(fields[_i].json, "9007199254740993"))
		ck_assert_ptr_nonnull(strstr(line, "\"a\":9007199254740993"));
	free(line);
	v = verify(&fx, NULL, NULL);
	ck_assert_int_eq(v.rc, 0);
	json_decref(v.report);
}
END_TEST

#define ADD(name) tcase_add_test(tc, name)

int main(void)
{
	TCase *tc = audit_cases(setup, teardown);

	ADD(m05_a_stranger_who_names_the_pinned_key_has_signed_nothing);
	ADD(m05_a_stranger_who_begins_with_the_pinned_key_has_signed_nothing);
	ADD(m05_a_stranger_who_opens_with_the_pinned_key_has_signed_nothing);
	ADD(a_key_taken_right_after_open_vouches_for_what_follows);
	ADD(m05_a_second_start_brings_no_new_key);
	ADD(m04_a_log_that_begins_after_the_anchored_record_is_tampered);
	tcase_add_loop_test(tc, anchors_are_what_they_are_or_refused, 0,
			    AB_ARRAY_LEN(anchors));
	tcase_add_loop_test(tc, a_file_that_is_no_log_is_left_as_it_is, 0,
			    AB_ARRAY_LEN(finds));
	ADD(what_is_no_file_is_no_log);
	ADD(a_removed_log_is_not_written_to_any_more);
	ADD(a_key_file_whose_maker_was_killed_is_used);
	ADD(m10_a_clock_that_went_back_between_two_runs_is_flagged);
	ADD(m08_a_writer_killed_at_any_moment_leaves_a_log_that_goes_on);
	ADD(a_log_is_never_called_tampered_while_it_is_written);
	ADD(a_log_takes_no_standard_stream);
	tcase_add_loop_test(tc, fields_are_exact_or_refused, 0,
			    AB_ARRAY_LEN(fields));
	return audit_run("audit_forged", tc);
}
