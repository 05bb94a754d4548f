/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A decision as JSON, as an audit record and as text for people. What was
 * checked may be any bytes: in JSON what is not UTF-8 becomes U+FFFD, for
 * people every control character is spelled out, so that a line cannot write
 * on the terminal of who reads about it. Spec: agentbox/guard.h.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "guard/decision.h"
#include "guard/guard.h"

#define MAX_JSON ((size_t)64 << 20)
#define MAX_TEXT ((size_t)64 << 20)
/* Of the words: what all findings of a decision show together. With the text,
   AB_MAX_CHECK_TEXT, and six bytes for one, as in \u001f, it is below
   MAX_JSON. */
#define MAX_WORDS ((size_t)4 << 20)
/* Of the checked text and of the words: what a record shows, which is at most
   AB_MAX_AUDIT_RECORD. */
#define MAX_RECORD_SUBJECT ((size_t)4096)
#define MAX_RECORD_WORDS ((size_t)4096)
/* Columns of the line that explain() shows around what was found. */
#define SHOW_BEFORE 200
#define SHOW_AFTER 200

static const char *const verdict_names[] = { "none", "allow", "ask", "deny" };
static const char *const severity_names[] = { "none", "low", "medium", "high",
					      "critical" };
static const char *const kind_names[] = { "nothing", "path", "shell",
					  "argv",    "git",  "scope" };

static const char *severity_name(int32_t severity)
{
	if (severity < 0 || severity > AGENTBOX_SEVERITY_CRITICAL)
		return "critical";
	return severity_names[severity];
}

/* --- JSON --- */

static void json_char(agentbox_bytes *b, unsigned char c)
{
	switch (c) {
	case '"':
		ab_bytes_append_str(b, "\\\"");
		return;
	case '\\':
		ab_bytes_append_str(b, "\\\\");
		return;
	case '\n':
		ab_bytes_append_str(b, "\\n");
		return;
	case '\t':
		ab_bytes_append_str(b, "\\t");
		return;
	case '\0': /* many readers refuse \u0000, the audit among them */
		ab_bytes_append_str(b, "\xef\xbf\xbd");
		return;
	default:
		if (c < 0x20 || c == 0x7f)
			ab_bytes_appendf(b, "\\u%04x", c);
		else
			ab_bytes_append_char(b, (char)c);
	}
}

static void json_string(agentbox_bytes *b, const char *text, size_t n)
{
	size_t i = 0;

	ab_bytes_append_char(b, '"');
	while (i < n) {
		uint32_t c;
		size_t len = ab_utf8_decode(text + i, n - i, &c);

		if (len == 0)
			ab_bytes_append_str(b, "\xef\xbf\xbd");
		else if (len == 1)
			json_char(b, (unsigned char)c);
		else
			ab_bytes_append(b, text + i, len);
		i += len ? len : 1;
	}
	ab_bytes_append_char(b, '"');
}

static void json_member(agentbox_bytes *b, const char *key, const char *text)
{
	ab_bytes_appendf(b, ",\"%s\":", key);
	json_string(b, text, strlen(text));
}

/* The words that fit into what is left, and how many do not. */
static void json_argv(agentbox_bytes *b, const struct ab_resolved *c,
		      size_t *words_left)
{
	uint32_t n;

	ab_bytes_append_str(b, ",\"argv\":[");
	for (n = 0; n < c->count && c->words[n].len < *words_left; n++) {
		if (n)
			ab_bytes_append_char(b, ',');
		json_string(b, c->words[n].text, c->words[n].len);
		*words_left -= c->words[n].len + 1;
	}
	ab_bytes_append_str(b, "],\"wrappers\":[");
	for (uint32_t i = 0; i < c->wrapper_count; i++) {
		if (i)
			ab_bytes_append_char(b, ',');
		json_string(b, c->wrappers[i], strlen(c->wrappers[i]));
	}
	ab_bytes_append_char(b, ']');
	if (n < c->count)
		ab_bytes_appendf(b, ",\"argv_left_out\":%u", c->count - n);
}

/* What a finding says; an ALLOW without one has only its verdict. */
static void json_finding(agentbox_bytes *b, const agentbox_decision *d,
			 int32_t verdict, const struct ab_finding *f,
			 size_t *words_left)
{
	ab_bytes_appendf(b, "\"verdict\":\"%s\"", verdict_names[verdict]);
	if (f) {
		json_member(b, "rule", f->rule);
		json_member(b, "severity", severity_name(f->severity));
		json_member(b, "reason", f->reason);
		if (f->alternative)
			json_member(b, "alternative", f->alternative);
		if (f->span.end > f->span.begin)
			ab_bytes_appendf(b, ",\"span\":[%u,%u]", f->span.begin,
					 f->span.end);
		if (f->where)
			json_member(b, "where", f->where);
	}
	if (f && f->command < d->command_count)
		json_argv(b, &d->commands[f->command], words_left);
	else if (!f && d->command_count == 1)
		json_argv(b, &d->commands[0], words_left);
}

static void json_decision(agentbox_bytes *b, const agentbox_decision *d,
			  size_t max_subject, size_t *words_left)
{
	size_t n = d->text_len < max_subject ? d->text_len : max_subject;

	ab_bytes_append_char(b, '{');
	json_finding(b, d, agentbox_decision_get_verdict(d),
		     ab_decision_deciding(d), words_left);
	json_member(b, "kind", kind_names[d->kind]);
	ab_bytes_append_str(b, ",\"subject\":");
	json_string(b, d->text, n);
	if (d->guard && d->kind != AB_DECIDE_NOTHING)
		json_member(b, "config_hash",
			    agentbox_policy_get_digest(d->guard->policy));
}

static void json_findings(agentbox_bytes *b, const agentbox_decision *d,
			  size_t *words_left)
{
	ab_bytes_append_str(b, ",\"findings\":[");
	for (uint32_t i = 0; i < d->finding_count; i++) {
		ab_bytes_append_str(b, i ? ",{" : "{");
		json_finding(b, d, d->findings[i].verdict, &d->findings[i],
			     words_left);
		ab_bytes_append_char(b, '}');
	}
	ab_bytes_append_char(b, ']');
	if (d->finding_total > d->finding_count)
		ab_bytes_appendf(b, ",\"findings_left_out\":%u",
				 d->finding_total - d->finding_count);
}

/* *b goes to the caller when it is whole. */
static int32_t hand_over(agentbox_bytes **b, agentbox_bytes **out,
			 agentbox_error **err)
{
	if (!*b || (!ab_bytes_ok(*b) && !ab_bytes_is_over(*b)))
		return ab_error_nomem(err);
	if (!ab_bytes_ok(*b))
		return ab_error_set(err, AGENTBOX_ELIMIT, "",
				    "the text of the decision is too long");
	*out = ab_steal(b);
	return 0;
}

static int32_t check_arguments(const agentbox_decision *d, const void *out,
			       agentbox_error **err)
{
	if (!d)
		return ab_error_set(err, AGENTBOX_EINVAL, "decision",
				    "decision must not be NULL");
	if (!out)
		return ab_error_set(err, AGENTBOX_EINVAL, "out",
				    "there is no place for the result");
	return 0;
}

int32_t agentbox_decision_to_json(const agentbox_decision *decision,
				  agentbox_bytes **json, agentbox_error **err)
{
	ab_auto(agentbox_bytes) *b = NULL;
	size_t words_left = MAX_WORDS;
	int32_t r = check_arguments(decision, json, err);

	if (r < 0)
		return r;
	b = ab_bytes_new(MAX_JSON);
	if (b) {
		json_decision(b, decision, SIZE_MAX, &words_left);
		json_findings(b, decision, &words_left);
		ab_bytes_append_char(b, '}');
	}
	return hand_over(&b, json, err);
}

int32_t agentbox_decision_record(const agentbox_decision *decision,
				 agentbox_audit *audit, agentbox_error **err)
{
	ab_auto(agentbox_bytes) *b = NULL;
	ab_auto(agentbox_bytes) *fields = NULL;
	size_t words_left = MAX_RECORD_WORDS;
	int32_t r = check_arguments(decision, audit, err);

	if (r < 0)
		return r;
	b = ab_bytes_new(MAX_JSON);
	if (b) {
		json_decision(b, decision, MAX_RECORD_SUBJECT, &words_left);
		ab_bytes_append_char(b, '}');
	}
	r = hand_over(&b, &fields, err);
	if (r < 0)
		return r;
	return agentbox_audit_append(audit, "guard.decision",
				     agentbox_bytes_get_data(fields),
				     agentbox_bytes_get_size(fields), err);
}

/* --- text --- */

/* Does it write on a terminal, reorder what is read (Unicode TR 9), or can it
   not be seen at all? C0, C1 and DEL; U+200B to 200F, 2028 to 202E, 2060 to
   206F, 061C, FEFF, the tags. */
static bool is_control(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c <= 0xa0) || c == 0xad ||
	       c == 0x61c || (c >= 0x200b && c <= 0x200f) ||
	       (c >= 0x2028 && c <= 0x202e) || (c >= 0x2060 && c <= 0x206f) ||
	       c == 0xfeff || (c >= 0xe0000 && c <= 0xe0fff);
}

/*
 * One character of the checked text as it is shown; returns its bytes and
 * puts the columns it takes into *columns. What may be wider than one, longer
 * than two bytes, is spelled out, or the carets would stand elsewhere.
 */
static size_t show_char(agentbox_bytes *b, const char *p, size_t n,
			size_t *columns)
{
	uint32_t c;
	size_t len = ab_utf8_decode(p, n, &c);
	char hex[8];

	if (len && len <= 2 && !is_control(c)) {
		if (b)
			ab_bytes_append(b, p, len);
		*columns = 1;
		return len;
	}
	if (len == 1 && (c == '\n' || c == '\t')) {
		if (b)
			ab_bytes_append_str(b, c == '\n' ? "\\n" : "\\t");
		*columns = 2;
		return 1;
	}
	snprintf(hex, sizeof(hex), "\\x%02x", (unsigned char)*p);
	if (b)
		ab_bytes_append_str(b, hex);
	*columns = 4;
	return 1;
}

/* Bytes begin..end-1 as they are shown; b NULL: only count the columns. */
static size_t show_range(agentbox_bytes *b, const char *text, size_t begin,
			 size_t end)
{
	size_t total = 0;

	while (begin < end) {
		size_t columns;

		begin += show_char(b, text + begin, end - begin, &columns);
		total += columns;
	}
	return total;
}

/* What a rule says: in any language, and maybe of a project, which nobody has
   to trust. Nothing stands below it, so its columns are not counted. */
static void show_text(agentbox_bytes *b, const char *text)
{
	size_t n = strlen(text);
	size_t columns;

	for (size_t i = 0; i < n;) {
		uint32_t c;
		size_t len = ab_utf8_decode(text + i, n - i, &c);

		if (len < 3 || is_control(c)) {
			i += show_char(b, text + i, n - i, &columns);
			continue;
		}
		ab_bytes_append(b, text + i, len);
		i += len;
	}
}

static void repeat(agentbox_bytes *b, char c, size_t n)
{
	for (size_t i = 0; i < n; i++)
		ab_bytes_append_char(b, c);
}

/*
 * The part of the text around a span, and carets below the span:
 *     cd /tmp && sudo rm -rf /
 *                     ^^^^^^^^
 */
static void show_carets(agentbox_bytes *b, const agentbox_decision *d,
			struct ab_span span)
{
	size_t end = span.end < d->text_len ? span.end : d->text_len;
	size_t begin = span.begin < end ? span.begin : end;
	size_t from = begin > SHOW_BEFORE ? begin - SHOW_BEFORE : 0;
	size_t to = d->text_len - begin > SHOW_AFTER ? begin + SHOW_AFTER :
						       d->text_len;
	size_t before;

	end = end < to ? end : to;
	ab_bytes_append_str(b, from ? "    ..." : "    ");
	show_range(b, d->text, from, begin);
	show_range(b, d->text, begin, end);
	show_range(b, d->text, end, to);
	ab_bytes_append_str(b, to < d->text_len ? "...\n" : "\n");
	if (end <= begin)
		return;
	before = show_range(NULL, d->text, from, begin) + (from ? 3 : 0);
	repeat(b, ' ', 4 + before);
	repeat(b, '^', show_range(NULL, d->text, begin, end));
	ab_bytes_append_char(b, '\n');
}

static void show_finding(agentbox_bytes *b, const agentbox_decision *d,
			 const struct ab_finding *f)
{
	ab_bytes_appendf(b, "  %s ", verdict_names[f->verdict]);
	show_text(b, f->rule);
	ab_bytes_appendf(b, " (%s): ", severity_name(f->severity));
	show_text(b, f->reason);
	ab_bytes_append_char(b, '\n');
	if (f->span.end > f->span.begin)
		show_carets(b, d, f->span);
	if (!f->alternative)
		return;
	ab_bytes_append_str(b, "    instead: ");
	show_text(b, f->alternative);
	ab_bytes_append_char(b, '\n');
}

/* Quotes around what a reader could take for two words. */
static void show_word(agentbox_bytes *b, const struct ab_word *w)
{
	bool plain = w->len > 0;

	for (size_t i = 0; i < w->len; i++) {
		if (w->text[i] <= ' ' || strchr("\"'`\\", w->text[i]))
			plain = false;
	}
	if (!plain)
		ab_bytes_append_char(b, '\'');
	show_range(b, w->text, 0, w->len);
	if (!plain)
		ab_bytes_append_char(b, '\'');
}

/* Where each word came from: bytes of the line. */
static void show_command(agentbox_bytes *b, const struct ab_resolved *c)
{
	ab_bytes_append_str(b, "  ");
	for (uint32_t i = 0; i < c->wrapper_count; i++) {
		ab_bytes_append_char(b, '[');
		show_text(b, c->wrappers[i]);
		ab_bytes_append_str(b, "] ");
	}
	for (uint32_t i = 0; i < c->count; i++) {
		if (i)
			ab_bytes_append_char(b, ' ');
		show_word(b, &c->words[i]);
	}
	ab_bytes_append_str(b, "\n    from");
	for (uint32_t i = 0; i < c->count; i++)
		ab_bytes_appendf(b, " %u-%u", c->words[i].span.begin,
				 c->words[i].span.end);
	ab_bytes_append_char(b, '\n');
}

static void explain(agentbox_bytes *b, const agentbox_decision *d)
{
	const struct ab_finding *f = ab_decision_deciding(d);

	ab_bytes_append_str(
		b, verdict_names[agentbox_decision_get_verdict(d)]);
	if (f) {
		ab_bytes_append_char(b, ' ');
		show_text(b, f->rule);
		ab_bytes_append_str(b, ": ");
		show_text(b, f->reason);
	}
	ab_bytes_append_char(b, '\n');
	if (!d->finding_count)
		show_carets(b, d, (struct ab_span){ 0, 0 });
	for (uint32_t i = 0; i < d->finding_count; i++)
		show_finding(b, d, &d->findings[i]);
	if (d->finding_total > d->finding_count)
		ab_bytes_appendf(b, "  and %u more\n",
				 d->finding_total - d->finding_count);
	if (d->command_count)
		ab_bytes_append_str(b, "commands as they would be run:\n");
	for (uint32_t i = 0; i < d->command_count; i++)
		show_command(b, &d->commands[i]);
	if (d->command_total > d->command_count)
		ab_bytes_appendf(b, "  and %u more\n",
				 d->command_total - d->command_count);
}

int32_t agentbox_decision_explain(const agentbox_decision *decision,
				  agentbox_bytes **text, agentbox_error **err)
{
	ab_auto(agentbox_bytes) *b = NULL;
	int32_t r = check_arguments(decision, text, err);

	if (r < 0)
		return r;
	b = ab_bytes_new(MAX_TEXT);
	if (b)
		explain(b, decision);
	return hand_over(&b, text, err);
}
