/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The parts of the content scan: rules (a table), anchors (which rule may
 * begin where), shapes and values (is it one, is it a placeholder), and the
 * stream that joins them. For content*.c and its tests.
 *
 * What a verifier may see is fixed: AB_CONTENT_BACK bytes before the anchor
 * and AB_CONTENT_AHEAD from it, cut at the ends of the file and nowhere else.
 * So a verdict cannot depend on how the file was cut into chunks.
 */
#ifndef AB_SNAPSHOT_CONTENT_INTERNAL_H
#define AB_SNAPSHOT_CONTENT_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "snapshot/content.h"

#define AB_CONTENT_BACK 512
#define AB_CONTENT_AHEAD 1024
/* No anchor is longer; further bytes of a literal are the shape's. */
#define AB_CONTENT_ANCHOR 16
/* What may be read behind the bytes a prefilter gets. */
#define AB_CONTENT_PAD 128

/*
 * How far verifiers that search have searched in vain: what one anchor's
 * search covered the next one's need not, so no text makes them slow.
 */
enum ab_content_mark {
	AB_MARK_ADO,
	AB_MARK_CALL,
	AB_MARK_COMMAND,
	AB_MARK_CURL,
	AB_MARK_DISCORD,
	AB_MARK_LISTED,
	AB_MARK_MANIFEST,
	AB_MARK_OPENAI,
	AB_MARK_RULED,
	AB_MARK_TABLE,
	AB_MARK_TEXT,
	AB_MARK_URL,
	AB_MARKS
};

/* The bytes around one anchor. at == lo only where the file begins. */
typedef struct ab_content_window {
	const uint8_t *lo, *hi; /* [lo, hi) may be read */
	const uint8_t *at;	/* the anchor's first byte */
	unsigned kind;		/* AB_CONTENT_LOCK_FILE ... */
	const uint8_t **marks;	/* AB_MARKS of them; NULL: none yet */
} ab_content_window;

/* What a name says about a file. */
#define AB_CONTENT_LOCK_FILE 1u /* full of hashes */
#define AB_CONTENT_NPMRC 2u
#define AB_CONTENT_INDEX_FILE 4u /* where packages come from */
#define AB_CONTENT_TESTS 8u /* what a test makes up */
#define AB_CONTENT_SETTINGS 16u /* of a program, which are no source of one */
#define AB_CONTENT_TEST 32u /* one by its own name, wherever it lies */

/* content_name.c: these of a path; is it, by how it ends, a file that a key or
   a password is kept in? */
unsigned ab_content_kind(const char *path, size_t n);
bool ab_content_names_file(const uint8_t *p, size_t n);

/* What a rule found: the secret, and of it the part that varies. */
typedef struct ab_content_match {
	const uint8_t *first, *value, *end;
	bool is_inside; /* a letter is beside it, among bytes of no text */
} ab_content_match;

/* *m is the anchor when called, the secret when true. */
typedef bool (*ab_content_verify)(const ab_content_window *w,
				  ab_content_match *m);

/* Flags of a row. */
#define AB_ROW_FOLD 0x1u	/* the anchor in any case */
#define AB_ROW_MIXED 0x2u	/* not all digits, capitals or small letters */
#define AB_ROW_CASES 0x80u	/* capitals and small letters */
#define AB_ROW_LONELY 0x4u	/* not inside base64: no '+' or '/' beside */
#define AB_ROW_APART 0x800u	/* the same, and a path has those as well */
#define AB_ROW_NOT_LOCK 0x8u	/* not in lock files */
#define AB_ROW_CHECKSUM 0x10u	/* a right checksum is proof */
#define AB_ROW_LITERAL 0x20u	/* nothing varies: no value to judge */
#define AB_ROW_DIGIT 0x40u	/* a digit */
#define AB_ROW_CHOSEN 0x100u	/* people may have chosen it: no weak one */
#define AB_ROW_TEXT 0x400u	/* of base64: what it says is scanned */
#define AB_ROW_SHORT 0x200u	/* letters only, as a symbol may have */
/* Two halves that make a finding together, in either order. */
#define AB_ROW_NEEDS(slot) ((uint32_t)(slot) << 16)  /* the secret */
#define AB_ROW_WORD(slot) ((uint32_t)(slot) << 20)   /* its keyword */
#define AB_ROW_CLEARS(slot) ((uint32_t)(slot) << 24) /* a new document */
#define AB_ROW_NEEDED(flags) ((flags) >> 16 & 0xf)
#define AB_ROW_WORDED(flags) ((flags) >> 20 & 0xf)
#define AB_ROW_CLEARED(flags) ((flags) >> 24 & 0xf)
#define AB_CONTENT_SLOTS 8

/*
 * One spelling of one rule; rows of one rule stand together. A shape says it
 * all (content_shape.c has the notation) and its beginning is the anchor; or
 * `shape` is the anchor alone and `verify` looks around it.
 */
typedef struct ab_content_row {
	const char *id;
	char tier;
	const char *shape;
	ab_content_verify verify;
	uint8_t entropy; /* at least, in tenths of a bit per byte; 0: any */
	uint32_t flags;
} ab_content_row;

extern const ab_content_row ab_content_rows[];
extern const size_t ab_content_row_count;

/* content_shape.c */
bool ab_content_class(char class, uint8_t c);
/* A NUL is in no set, as strchr(3) would have it. */
bool ab_content_is_one_of(const char *set, uint8_t c);
/* One step of a shape: the class (0: a literal), how many, and the rest. */
const char *ab_content_step(const char *shape, char *class, uint8_t *literal,
			    size_t *min, size_t *max);
bool ab_content_shape(const char *shape, bool fold,
		      const ab_content_window *w, ab_content_match *m);
/* p behind at most `max` bytes of a class. */
const uint8_t *ab_content_run(char class, const uint8_t *p,
			      const uint8_t *hi, size_t max);
/* The place where as many end before p; never before w->lo. */
const uint8_t *ab_content_back(char class, const ab_content_window *w,
			       const uint8_t *p, size_t max);
/* Is `text` (in small letters, in any case with fold) at p? */
bool ab_content_at(const ab_content_window *w, const uint8_t *p,
		   const char *text, bool fold);
/* Only white space between the beginning of the line and p, behind what a patch
   or a quotation has there? */
bool ab_content_begins_line(const ab_content_window *w, const uint8_t *p);
bool ab_content_begins_item(const ab_content_window *w, const uint8_t *p);
/* The same without white space. */
bool ab_content_is_line(const ab_content_window *w, const uint8_t *p);
bool ab_content_is_word(uint8_t c);
/* Is the byte before p, or p itself, no part of a word? */
bool ab_content_begins(const ab_content_window *w, const uint8_t *p);
bool ab_content_ends(const ab_content_window *w, const uint8_t *p);
/* It is not inside a word, or there are no words. */
bool ab_content_may_stand(const ab_content_window *w,
			  const ab_content_match *m);

/* content_value.c */
unsigned ab_content_entropy(const uint8_t *p, size_t n);
/* In a token that a machine made, and in a password that people choose. */
bool ab_content_is_sample(const uint8_t *p, size_t n);
bool ab_content_is_weak(const uint8_t *p, size_t n);
/* The same machine, or a name that is kept for documents. */
bool ab_content_is_local(const uint8_t *host, size_t n);
/* Is this password no secret at such a host? Of another than the same machine
   only one that a person made up. */
bool ab_content_excuses(const uint8_t *host, size_t n, const uint8_t *pass,
			const uint8_t *pass_end);
bool ab_content_checksum(const uint8_t *p, size_t n);
bool ab_content_has(const uint8_t *p, size_t n, const char *lower);
bool ab_content_value(const ab_content_row *row, const ab_content_window *w,
		      const ab_content_match *m);
/* Decode base64, skipping what is no letter of it; how many bytes. */
size_t ab_content_decode(const uint8_t *p, size_t n, uint8_t *out,
			 size_t room);

/*
 * content_text.c: the text whose base64 is around the match, and where that
 * begins; how many bytes of it are in out[AB_CONTENT_TEXT].
 */
#define AB_CONTENT_TEXT ((AB_CONTENT_BACK + AB_CONTENT_AHEAD) / 4 * 3)
size_t ab_content_text(const ab_content_window *w, ab_content_match *m,
		       uint8_t *out);

/*
 * content_escape.c: does an escape begin in p[0, n) that can hide a token?
 * `room` bytes can be read.
 */
bool ab_content_has_escape(const uint8_t *p, size_t n, size_t room);
/*
 * What p[*skip, n) means, and how long that is; *skip is how far the last
 * escape goes beyond n. out has room for n bytes, and `ends` a bit for each:
 * set where a line ends that does not end in the file.
 */
size_t ab_content_unescape(const uint8_t *p, size_t n, size_t room,
			   size_t *skip, uint8_t *out, uint64_t *ends);

/* content_login.c: p behind at most `max` bytes that are neither white space
   nor in `set` */
const uint8_t *ab_content_until(const uint8_t *p, const uint8_t *hi,
				const char *set, size_t max);
/* Where the scheme of a database begins that ends there, or NULL. */
const uint8_t *ab_content_database(const ab_content_window *w,
				   const uint8_t *end);
/* Is this worth a password: a host that is not the same machine's? */
bool ab_content_is_far(const uint8_t *host, const uint8_t *host_end,
		       const uint8_t *pass, const uint8_t *pass_end);

/* content_made.c: twelve bytes of three kinds in no order, which nobody types
   as a sample */
bool ab_content_is_made(const uint8_t *p, const uint8_t *end);
/* The same, or longer, of two kinds: hexadecimal, or small letters */
bool ab_content_is_generated(const uint8_t *p, const uint8_t *end);
/* The same with signs, of which a language has each as well */
bool ab_content_is_mixed(const uint8_t *p, const uint8_t *end);
/* Forty bytes of any kind, in which words may be by chance */
bool ab_content_is_shuffled(const uint8_t *p, const uint8_t *end);
/* "abcdefgh1234": most bytes are one more than the one before */
bool ab_content_counts(const uint8_t *p, size_t n);

/* content_digits.c: a UUID, in which no shuffle of the kinds is */
bool ab_content_is_uuid(const uint8_t *p, const uint8_t *end);
/* Where a coin is, which is called a token too: an address of Ethereum, Tron or
   Solana. Of other tokens of that length one in twenty looks so. */
bool ab_content_is_address(const uint8_t *p, const uint8_t *end);
/* Does a name say that it opens something, and that a service handed it out? */
bool ab_content_opens(const uint8_t *name, const uint8_t *end);
bool ab_content_is_handed_out(const uint8_t *name, const uint8_t *end);
/* Are they what a key has, and are they one behind the anchor's name? */
bool ab_content_is_key_or_uuid(const ab_content_window *w,
			       const ab_content_match *m);
bool ab_content_is_digits(const ab_content_window *w,
			  const ab_content_match *m);

/* content_assign.c: the anchor's name from its beginning:
   "spring.datasource.", "app:db". */
const uint8_t *ab_content_whole_name(const ab_content_window *w);
/* Behind "</name><value>", in one line or two, as Hadoop and
   property lists have it; NULL when it is not there. */
const uint8_t *ab_content_next_element(const ab_content_window *w,
				       const uint8_t *p);
/*
 * Where a name may have its value, and that there; NULL: nothing is there.
 * *quote is the byte that has to end it, 0 for the end of the line.
 */
enum ab_content_where {
	AB_WHERE_LISTED,   /* "name": N, "value": V */
	AB_WHERE_ASSIGNED, /* N = V, and how else languages write it */
	AB_WHERE_STAND_IN, /* ${N:-V} */
	AB_WHERE_NEXT_WORD, /* setenv N V */
	AB_WHERE_ALTERNATIVE, /* N || V */
	AB_WHERE_LISTED_BEFORE, /* "value": V, "name": N */
	AB_WHERE_COUNT
};
const uint8_t *ab_content_value_at(enum ab_content_where where,
				   const ab_content_window *w,
				   const uint8_t *name, const uint8_t *end,
				   uint8_t *quote);

/* content_table.c: a name's column of a table, and where its next row is */
typedef struct ab_content_column {
	const uint8_t *p;
	size_t index;
	uint8_t separator, close; /* what ends a cell, and a row */
} ab_content_column;
bool ab_content_find_column(const ab_content_window *w, const uint8_t *name,
			    const uint8_t *end, ab_content_column *c);
/* The next cell of it: m->value and m->end. False: there are no more. */
bool ab_content_next_cell(const ab_content_window *w, ab_content_column *c,
			  ab_content_match *m);

/* content_param.c: *m is a value; is it the one of a parameter of a URL, of
   that name, that opens something on another machine? Its end in *m. */
bool ab_content_parameter(const ab_content_window *w, const uint8_t *name,
			  ab_content_match *m);

/* content_key.c, content_login.c, content_param.c, content_lines.c,
   content_config.c, content_call.c, content_command.c, content_cookie.c: what
   is no shape */
bool ab_verify_word(const ab_content_window *w, ab_content_match *m);
bool ab_verify_pem(const ab_content_window *w, ab_content_match *m);
bool ab_verify_pem_b64(const ab_content_window *w, ab_content_match *m);
bool ab_verify_der(const ab_content_window *w, ab_content_match *m);
bool ab_verify_pem_url(const ab_content_window *w, ab_content_match *m);
bool ab_verify_key_b64(const ab_content_window *w, ab_content_match *m);
bool ab_verify_jwk(const ab_content_window *w, ab_content_match *m);
bool ab_verify_putty(const ab_content_window *w, ab_content_match *m);
bool ab_verify_wireguard(const ab_content_window *w, ab_content_match *m);
bool ab_verify_jwt(const ab_content_window *w, ab_content_match *m);
bool ab_verify_jwt_b64(const ab_content_window *w, ab_content_match *m);
bool ab_verify_openai(const ab_content_window *w, ab_content_match *m);
bool ab_verify_azure_ad(const ab_content_window *w, ab_content_match *m);
bool ab_verify_azure_devops(const ab_content_window *w, ab_content_match *m);
bool ab_verify_terraform(const ab_content_window *w, ab_content_match *m);
bool ab_verify_telegram(const ab_content_window *w, ab_content_match *m);
bool ab_verify_mailchimp(const ab_content_window *w, ab_content_match *m);
bool ab_verify_discord(const ab_content_window *w, ab_content_match *m);
bool ab_verify_discord_near(const ab_content_window *w, ab_content_match *m);
bool ab_verify_slack_legacy(const ab_content_window *w, ab_content_match *m);
bool ab_verify_aws_secret(const ab_content_window *w, ab_content_match *m);
bool ab_verify_url_git(const ab_content_window *w, ab_content_match *m);
bool ab_verify_url_any(const ab_content_window *w, ab_content_match *m);
bool ab_verify_url_db(const ab_content_window *w, ab_content_match *m);
bool ab_verify_url_param(const ab_content_window *w, ab_content_match *m);
bool ab_verify_oracle(const ab_content_window *w, ab_content_match *m);
bool ab_verify_command(const ab_content_window *w, ab_content_match *m);
bool ab_verify_option(const ab_content_window *w, ab_content_match *m);
bool ab_verify_git_export(const ab_content_window *w, ab_content_match *m);
bool ab_verify_token_word(const ab_content_window *w, ab_content_match *m);
bool ab_verify_token_short(const ab_content_window *w, ab_content_match *m);
bool ab_verify_environment(const ab_content_window *w, ab_content_match *m);
bool ab_verify_ado(const ab_content_window *w, ab_content_match *m);
bool ab_verify_datadog(const ab_content_window *w, ab_content_match *m);
bool ab_verify_http_auth(const ab_content_window *w, ab_content_match *m);
bool ab_verify_curl(const ab_content_window *w, ab_content_match *m);
bool ab_verify_sshpass(const ab_content_window *w, ab_content_match *m);
bool ab_verify_netrc(const ab_content_window *w, ab_content_match *m);
bool ab_verify_wandb(const ab_content_window *w, ab_content_match *m);
bool ab_verify_npm_auth(const ab_content_window *w, ab_content_match *m);
bool ab_verify_hash_line(const ab_content_window *w, ab_content_match *m);
bool ab_verify_shadow_line(const ab_content_window *w, ab_content_match *m);
bool ab_verify_crypt(const ab_content_window *w, ab_content_match *m);
bool ab_verify_assign(const ab_content_window *w, ab_content_match *m);
bool ab_verify_assign_short(const ab_content_window *w, ab_content_match *m);
bool ab_verify_signing_key(const ab_content_window *w, ab_content_match *m);
bool ab_verify_secret(const ab_content_window *w, ab_content_match *m);
bool ab_verify_go_dsn(const ab_content_window *w, ab_content_match *m);
bool ab_verify_bindpw(const ab_content_window *w, ab_content_match *m);
bool ab_verify_pgpass(const ab_content_window *w, ab_content_match *m);
bool ab_verify_docker_auth(const ab_content_window *w, ab_content_match *m);
bool ab_verify_azure_sas(const ab_content_window *w, ab_content_match *m);
bool ab_verify_short_option(const ab_content_window *w, ab_content_match *m);
bool ab_verify_login_option(const ab_content_window *w, ab_content_match *m);
bool ab_verify_tool_option(const ab_content_window *w, ab_content_match *m);
bool ab_verify_user_option(const ab_content_window *w, ab_content_match *m);
bool ab_verify_made_word(const ab_content_window *w, ab_content_match *m);
bool ab_verify_root_line(const ab_content_window *w, ab_content_match *m);
bool ab_verify_openssl_pass(const ab_content_window *w, ab_content_match *m);
bool ab_verify_from_literal(const ab_content_window *w, ab_content_match *m);
bool ab_verify_net_user(const ab_content_window *w, ab_content_match *m);
bool ab_verify_htpasswd(const ab_content_window *w, ab_content_match *m);
bool ab_verify_piped(const ab_content_window *w, ab_content_match *m);
bool ab_verify_cookie(const ab_content_window *w, ab_content_match *m);
bool ab_verify_curl_cookie(const ab_content_window *w, ab_content_match *m);
bool ab_verify_cookie_line(const ab_content_window *w, ab_content_match *m);
bool ab_verify_key_word(const ab_content_window *w, ab_content_match *m);
bool ab_verify_seed_phrase(const ab_content_window *w, ab_content_match *m);
bool ab_verify_model_key(const ab_content_window *w, ab_content_match *m);
bool ab_verify_api_key(const ab_content_window *w, ab_content_match *m);
bool ab_verify_token(const ab_content_window *w, ab_content_match *m);
bool ab_verify_argument(const ab_content_window *w, ab_content_match *m);
bool ab_verify_salt(const ab_content_window *w, ab_content_match *m);
bool ab_verify_k8s_kind(const ab_content_window *w, ab_content_match *m);
bool ab_verify_k8s_data(const ab_content_window *w, ab_content_match *m);
bool ab_verify_document(const ab_content_window *w, ab_content_match *m);

/* content_anchor.c: where may which row begin? */
#define AB_CONTENT_HEADS 4096
#define AB_CONTENT_PRINTS 2048

/* Four bytes of an anchor, and how far they are behind its beginning. */
#define AB_CONTENT_PRINT 4
/* Of eight buckets: two let more through, four cost more than they keep. */
#define AB_CONTENT_GROUPS 4
typedef struct ab_content_print {
	uint64_t last[4]; /* which bytes the fourth may be */
	uint32_t key;	  /* the first three */
	uint16_t row;
	uint16_t next; /* 0: none; numbers are one too high */
	uint8_t offset;
} ab_content_print;

/*
 * What a row has behind its print, and how far from where that begins: "path"
 * and "pattern" are often met, a token that begins like that is not. And what
 * it has before it, and how far from where the row begins: of many names that
 * end alike, "_key" is the print of each.
 */
typedef struct ab_content_probe {
	uint64_t set[4], front[4];
	uint8_t offset, front_offset;
} ab_content_probe;

#define AB_CONTENT_ROWS 704
typedef struct ab_content_anchors {
	/* nibbles to buckets, and bytes to others */
	uint8_t low[AB_CONTENT_GROUPS][AB_CONTENT_PRINT][16];
	uint8_t high[AB_CONTENT_GROUPS][AB_CONTENT_PRINT][16];
	uint8_t bytes[AB_CONTENT_GROUPS][AB_CONTENT_PRINT][128];
	/* pairs of bytes: bit 0, 1 or 2: that begin there in some print */
	uint8_t pairs[65536];
	uint16_t heads[AB_CONTENT_HEADS];
	ab_content_print prints[AB_CONTENT_PRINTS];
	ab_content_probe probes[AB_CONTENT_ROWS];
	size_t count;
} ab_content_anchors;

/*
 * Where prints begin in p[from, to): at most `max` positions in order, the
 * place to go on in *from. AB_CONTENT_PAD bytes behind `to` can be read. Every
 * implementation gives the same answer.
 */
typedef size_t (*ab_content_find)(const ab_content_anchors *a,
				  const uint8_t *p, size_t *from, size_t to,
				  uint32_t *out, size_t max);

/* False: there are more prints than AB_CONTENT_PRINTS, and rows without. */
bool ab_content_anchors_make(ab_content_anchors *a);
size_t ab_content_find_portable(const ab_content_anchors *a, const uint8_t *p,
				size_t *from, size_t to, uint32_t *out,
				size_t max);

/* What may stand at one place of an anchor. */
typedef struct ab_content_place {
	uint64_t set[4];
	size_t count;
	uint32_t weight;
} ab_content_place;

/* How many of 65536 bytes of source code are this one. */
extern const uint16_t ab_content_frequency[256];

/* The first byte of a place that is not below c; 128: none. */
static inline unsigned ab_place_next(const ab_content_place *at, unsigned c)
{
	for (; c < 128; c = (c | 63) + 1) {
		uint64_t set = at->set[c >> 6] >> (c & 63);

		if (set)
			return c + (unsigned)__builtin_ctzll(set);
	}
	return c;
}

/*
 * content_vector.c: many places at once, by masks of buckets of prints. The
 * buckets are only there while the masks are made.
 */
#define AB_CONTENT_BUCKETS ((size_t)8 * AB_CONTENT_GROUPS)
typedef struct ab_nibble_bucket {
	/* which low and high nibbles it has at each place */
	uint16_t low[AB_CONTENT_PRINT], high[AB_CONTENT_PRINT];
	uint64_t leak;
} ab_nibble_bucket;
typedef struct ab_byte_bucket {
	uint64_t set[AB_CONTENT_PRINT][2];
	uint64_t sums[AB_CONTENT_PRINT]; /* how frequent those bytes are */
	uint64_t leak;
} ab_byte_bucket;
typedef struct ab_content_buckets {
	ab_nibble_bucket nibbles[AB_CONTENT_BUCKETS];
	ab_byte_bucket bytes[AB_CONTENT_BUCKETS];
	/* For each high nibble: how frequent are the bytes with one of these
	   low nibbles, 0 to 7 and 8 to 15? */
	uint32_t sums[8][2][256];
} ab_content_buckets;
void ab_content_buckets_make(ab_content_buckets *b);
/* The AB_CONTENT_PRINT places of a row's print. */
void ab_content_buckets_add(ab_content_buckets *b, ab_content_anchors *a,
			    const ab_content_place *print);

/*
 * The prefilters that this processor has, the fastest first; NULL behind the
 * last, which is the portable one.
 */
ab_content_find ab_content_find_nth(size_t i);
static inline ab_content_find ab_content_find_best(void)
{
	return ab_content_find_nth(0);
}

static inline uint32_t ab_content_key(const uint8_t *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16;
}

static inline uint32_t ab_content_head(uint32_t key)
{
	return key * 2654435761u >> 20;
}

/* Does this print, whose first three bytes are `key`, stand here? */
static inline bool ab_content_is_print(const ab_content_anchors *a,
				       const ab_content_print *print,
				       uint32_t key, const uint8_t *p)
{
	const ab_content_probe *probe = &a->probes[print->row];
	uint8_t more = p[probe->offset];

	return print->key == key &&
	       (print->last[p[3] >> 6] >> (p[3] & 63) & 1) &&
	       (probe->set[more >> 6] >> (more & 63) & 1);
}

/* May the row of this print, which stands here, begin at p? */
static inline bool ab_content_is_front(const ab_content_anchors *a,
				       const ab_content_print *print,
				       const uint8_t *p)
{
	const ab_content_probe *probe = &a->probes[print->row];
	uint8_t c = p[probe->front_offset];

	return probe->front[c >> 6] >> (c & 63) & 1;
}

/* Do its first two and its last two bytes begin and end some print? Most of
   what passes the masks does not, and this is sooner seen than which. */
static inline bool ab_content_has_pairs(const ab_content_anchors *a,
					const uint8_t *p)
{
	return (a->pairs[p[0] | p[1] << 8] & 1) &&
	       (a->pairs[p[2] | p[3] << 8] & 4);
}

/* Is this the beginning of a print? */
static inline bool ab_content_may_begin(const ab_content_anchors *a,
					const uint8_t *p)
{
	uint32_t key = ab_content_key(p);
	size_t i = a->heads[ab_content_head(key)];

	for (; i; i = a->prints[i - 1].next) {
		if (ab_content_is_print(a, &a->prints[i - 1], key, p))
			return true;
	}
	return false;
}

/* For tests: another prefilter than the best. */
void ab_content_set_find(ab_content *scanner, ab_content_find find);

#endif
