/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What an inline program has from the network: calls that fetch, the names
 * that are given what one did (x = get(u), with get(u) as x, the parameters of
 * what is called back with it), and the files and children that it is written
 * to. Where such a thing is a command or code, it is refused.
 * Refuses to follow values: a name that was given such a thing once has it
 * everywhere, and where there are too many of them all names have.
 */
#include "config.h"

#include "guard/code.h"
#include "guard/command.h"

#include <string.h>

#define MAX_NAMES 48
#define MAX_DEPTH 16 /* of brackets; what is deeper belongs to the last */

struct span {
	uint32_t at, end;
};

/* ab_code.remote */
struct ab_remote {
	struct span names[MAX_NAMES];
	uint32_t count;
	bool is_full;
	bool has_source; /* it fetches something */
	bool is_fed;	 /* and writes that into something */
	bool is_handed;	 /* or has it handed to what runs it */
};

/* The program, token by token. */
struct scan {
	struct ab_code *k;
	struct ab_remote *r;
	struct ab_lexer x; /* behind the token at hand */
	struct ab_token before, behind; /* as those of ab_code */
	uint32_t depth;
	int reach; /* where a statement has a source: its depth; or -1 */
	struct {
		uint32_t open;	    /* where the bracket begins */
		struct span target; /* `x =` of the statement in it */
		struct span feeder; /* the x of x.write(); at 0: none */
		bool is_fed;
	} all[MAX_DEPTH];
	struct span group;    /* what the last bracket that closed holds */
	struct span function; /* the name of the last one */
	struct span file, path; /* the last `with open(path) as file` */
	bool is_returned, is_import, is_function;
};

static uint32_t level(const struct scan *s)
{
	return s->depth < MAX_DEPTH ? s->depth : MAX_DEPTH - 1;
}

/* Without the sigil that perl and php have. */
static struct span bare(const struct ab_word *text, uint32_t at, uint32_t len)
{
	struct span name = { .at = at, .end = at + len };

	while (name.at < name.end && memchr("$@%", text->text[name.at], 3))
		name.at++;
	return name;
}

static bool has_remote_name(const struct ab_code *k, const struct ab_remote *r,
			    struct span name)
{
	const char *s = k->text->text;
	uint32_t len = name.end - name.at;

	for (uint32_t i = 0; i < r->count && len; i++) {
		if (r->names[i].end - r->names[i].at == len &&
		    !memcmp(s + r->names[i].at, s + name.at, len))
			return true;
	}
	return len && r->is_full;
}

static void add_name(struct scan *s, struct span name)
{
	struct ab_remote *r = s->r;

	if (name.end <= name.at || has_remote_name(s->k, r, name))
		return;
	if (r->count == MAX_NAMES)
		r->is_full = true;
	else
		r->names[r->count++] = name;
}

/* All names in a part of the text: (a, b), {a, b}. */
static void add_names(struct scan *s, struct span part)
{
	struct ab_lexer x = s->x;
	struct ab_token t;

	x.pos = part.at;
	x.len = part.end;
	for (uint32_t i = 0; i < 16 && ab_lexer_next(&x, &t); i++) {
		if (t.kind == AB_TOKEN_WORD)
			add_name(s, bare(s->k->text, t.at, t.len));
	}
}

/* --- sources -------------------------------------------------------------- */

static bool begins(const struct ab_word *text, const struct ab_token *t,
		   const char *s)
{
	size_t n = strlen(s);

	return t->len >= n && !memcmp(text->text + t->at, s, n);
}

static bool is_address(const struct ab_word *text, const struct ab_token *t)
{
	return t->kind == AB_TOKEN_STRING &&
	       (begins(text, t, "http://") || begins(text, t, "https://") ||
		begins(text, t, "ftp://"));
}

/* What fetches wherever it stands, and what does when it is asked to. */
static const struct {
	const char *name;
	uint8_t langs;
	const char *verbs; /* one of them stands behind a dot; or NULL */
} sources[] = {
	{ "urlopen", AB_PY },
	{ "urlretrieve", AB_PY },
	{ "httpx", AB_PY },
	{ "aiohttp", AB_PY },
	{ "urllib2", AB_PY },
	{ "urllib3", AB_PY },
	{ "HTTPConnection", AB_PY },
	{ "HTTPSConnection", AB_PY },
	{ "recv", AB_PY | AB_PERL },
	{ "makefile", AB_PY },
	{ "requests", AB_PY,
	  "get post put patch head request Session session" },
	{ "fetch", AB_JS },
	{ "axios", AB_JS },
	{ "undici", AB_JS },
	{ "superagent", AB_JS },
	{ "needle", AB_JS },
	{ "XMLHttpRequest", AB_JS },
	{ "got", AB_JS },
	{ "https", AB_JS, "get request" },
	{ "http", AB_JS, "get request" },
	{ "net", AB_JS, "connect createConnection" },
	{ "URI", AB_RUBY },
	{ "OpenURI", AB_RUBY },
	{ "Net", AB_RUBY },
	{ "HTTParty", AB_RUBY },
	{ "RestClient", AB_RUBY },
	{ "Faraday", AB_RUBY },
	{ "Excon", AB_RUBY },
	{ "Typhoeus", AB_RUBY },
	{ "TCPSocket", AB_RUBY },
	{ "LWP", AB_PERL },
	{ "HTTP", AB_PERL | AB_RUBY },
	{ "Mojo", AB_PERL },
	{ "Socket", AB_PERL },
	{ "curl_exec", AB_PHP },
	{ "fsockopen", AB_PHP },
	{ "stream_socket_client", AB_PHP },
	{ "http", AB_LUA },
	{ "https", AB_LUA },
	{ "socket", AB_LUA },
	{ "download", AB_OTHER },
	{ "Downloads", AB_OTHER },
	{ "HTTP", AB_OTHER },
	{ "GET", AB_OTHER },
	{ "getURL", AB_OTHER },
	{ "HTTPoison", AB_OTHER },
	{ "Req", AB_OTHER },
	{ "httpc", AB_OTHER },
	{ "HttpClient", AB_OTHER },
	{ "openStream", AB_OTHER },
	{ "toURL", AB_OTHER },
	{ "url-retrieve-synchronously", AB_OTHER },
	{ "url-insert-file-contents", AB_OTHER },
	{ "url-insert", AB_OTHER },
	{ "url-copy-file", AB_OTHER },
};

/* One of the words is what stands behind a dot, and from x on. */
static bool has_verb(const struct ab_code *k, struct ab_lexer x,
		     const char *verbs)
{
	struct ab_token t;

	if (!ab_lexer_next(&x, &t))
		return false;
	/* require("https").get */
	while (k->lang == AB_JS && ab_code_is_sign(k, &t, ')') &&
	       ab_lexer_next(&x, &t))
		;
	if (!ab_code_is_sign(k, &t, '.') || !ab_lexer_next(&x, &t))
		return false;
	for (const char *from = verbs; *from; from += *from == ' ') {
		size_t n = strcspn(from, " ");

		if (n == t.len && !memcmp(from, k->text->text + t.at, n))
			return true;
		from += n;
	}
	return false;
}

/* `curl -s x`, popen("curl -s x"), ["wget", x], qx(curl -s x) */
static bool is_downloader(const struct ab_code *k, const struct ab_token *t,
			  const struct ab_token *before,
			  const struct ab_token *behind)
{
	bool is_named = begins(k->text, t, "curl") ||
			begins(k->text, t, "wget");
	char end = t->len > 4 ? k->text->text[t->at + 4] : ' ';

	if (AB_LIKELY(!is_named) || end != ' ')
		return false;
	/* perl: open(F, "curl -s x |") */
	if (t->kind == AB_TOKEN_STRING && k->lang == AB_PERL &&
	    ab_code_is_sign(k, before, ','))
		return k->text->text[t->at + t->len - 1] == '|';
	if (t->kind == AB_TOKEN_STRING)
		return t->quote == '`' || ab_code_is_sign(k, before, '(') ||
		       ab_code_is_sign(k, before, '[') ||
		       ab_code_is_text(k, before, "qx");
	return before->kind == AB_TOKEN_SIGN &&
	       (ab_code_is_text(k, behind, "qx") ||
		ab_code_is_text(k, behind, "x"));
}

/* perl: get("https://..."), which LWP::Simple has; php, R, ...: what is asked
   for has an address. */
static bool is_fetched(const struct ab_code *k, const struct ab_token *t,
		       const struct ab_token *before)
{
	if (AB_LIKELY(!is_address(k->text, t)))
		return false;
	if (k->lang & (AB_PHP | AB_OTHER))
		return true;
	return k->lang & (AB_PERL | AB_RUBY) &&
	       (ab_code_is_text(k, before, "get") ||
		ab_code_is_text(k, before, "open") ||
		ab_code_is_sign(k, before, '('));
}

static bool is_module(const struct ab_code *k, const struct ab_token *before)
{
	return k->lang == AB_PY && (ab_code_is_text(k, before, "import") ||
				    ab_code_is_text(k, before, "from"));
}

/* x is behind the token. */
static bool is_source(const struct ab_code *k, const struct ab_token *t,
		      struct ab_lexer x, const struct ab_token *before,
		      const struct ab_token *behind)
{
	if (t->kind == AB_TOKEN_SIGN)
		return false;
	if (is_downloader(k, t, before, behind) || is_fetched(k, t, before))
		return true;
	for (size_t i = 0; i < AB_ARRAY_LEN(sources); i++) {
		if (!(sources[i].langs & k->lang) ||
		    *sources[i].name != k->text->text[t->at] ||
		    strlen(sources[i].name) != t->len ||
		    memcmp(sources[i].name, k->text->text + t->at, t->len))
			continue;
		/* const {get} = require("https") */
		if (t->kind == AB_TOKEN_STRING && k->lang == AB_JS &&
		    t->len == 5 && ab_code_is_text(k, behind, "require"))
			return true;
		if (t->kind == AB_TOKEN_STRING && k->lang == AB_PY &&
		    (ab_code_is_text(k, behind, "__import__") ||
		     ab_code_is_text(k, behind, "import_module")))
			return true;
		if (sources[i].verbs)
			return is_module(k, before) ||
			       has_verb(k, x, sources[i].verbs);
		/* require "socket.http" and the like name what is one */
		return t->kind == AB_TOKEN_WORD;
	}
	return k->lang == AB_LUA && t->kind == AB_TOKEN_STRING &&
	       (begins(k->text, t, "socket") || begins(k->text, t, "ssl.") ||
		begins(k->text, t, "http"));
}

/* --- names ---------------------------------------------------------------- */

/* A property of something is another thing than a name. */
static bool is_property(const struct ab_code *k, const struct ab_token *t,
			const struct ab_token *before,
			const struct ab_token *behind)
{
	return ab_code_is_sign(k, before, '.') && before->at + 1 == t->at &&
	       k->lang & ~(AB_PERL | AB_PHP) &&
	       !ab_code_is_text(k, behind, "self") &&
	       !ab_code_is_text(k, behind, "this");
}

/* "...$x...", f"{x}", `${x}` */
static bool has_field(const struct ab_code *k, const struct ab_remote *r,
		      const struct ab_token *t)
{
	const char *s = k->text->text;
	uint32_t end = t->at + t->len;

	for (uint32_t i = t->at + 1; i < end && r->count; i++) {
		uint32_t from = i;

		if (!memchr("{$@", s[i - 1], 3))
			continue;
		while (i < end && (s[i] == ' ' || s[i] == '$'))
			from = ++i;
		while (i < end && ab_code_is_letter(s[i]))
			i++;
		if (has_remote_name(k, r, (struct span){ from, i }))
			return true;
	}
	return false;
}

static bool is_remote(const struct ab_code *k, const struct ab_remote *r,
		      const struct ab_token *t, struct ab_lexer x,
		      const struct ab_token *before,
		      const struct ab_token *behind)
{
	if (is_source(k, t, x, before, behind))
		return true;
	if (t->kind == AB_TOKEN_WORD)
		return !is_property(k, t, before, behind) &&
		       has_remote_name(k, r, bare(k->text, t->at, t->len));
	return t->kind == AB_TOKEN_STRING && has_field(k, r, t);
}

static bool is_word(const struct scan *s, const struct ab_token *t,
		    const char *const *words, size_t count)
{
	return ab_code_is_one_of(s->k, t, words, count);
}

static bool is_same(const struct scan *s, struct span a, struct span b)
{
	const char *text = s->k->text->text;

	return a.end > a.at && a.end - a.at == b.end - b.at &&
	       !memcmp(text + a.at, text + b.at, a.end - a.at);
}

/* What is written to, and the name of that file. */
static void add_feeder(struct scan *s, struct span name)
{
	add_name(s, name);
	if (is_same(s, name, s->file))
		add_name(s, s->path);
}

/* What the statement does with what it fetched. */
static void note_source(struct scan *s, const struct ab_token *t)
{
	uint32_t top = level(s);
	/* require("https").get(...), get("https://x") */
	bool is_argument = t->kind == AB_TOKEN_STRING && s->depth &&
			   ab_code_is_sign(s->k, &s->before, '(');
	int reach = (int)s->depth - is_argument;

	s->r->has_source = true;
	if (s->reach < 0 || reach < s->reach)
		s->reach = reach;
	for (uint32_t i = 0; i <= top; i++) {
		add_names(s, s->all[i].target);
		add_feeder(s, s->all[i].feeder);
		s->r->is_fed |= s->all[i].is_fed;
		/* once is enough, or time is not linear */
		s->all[i].target = s->all[i].feeder = (struct span){ 0 };
	}
	/* perl: of open(F, "curl |") */
	if (t->kind == AB_TOKEN_STRING && s->k->lang == AB_PERL &&
	    ab_code_is_sign(s->k, &s->before, ','))
		add_name(s, bare(s->k->text, s->behind.at,
				 s->behind.len));
	if (s->is_returned ||
	    (s->k->lang & (AB_RUBY | AB_PERL) && !s->all[top].target.end))
		add_name(s, s->function);
}

static void end_statement(struct scan *s)
{
	uint32_t top = level(s);

	s->all[top].target = s->all[top].feeder = (struct span){ 0 };
	s->all[top].is_fed = false;
	s->is_returned = s->is_import = false;
	if ((int)s->depth <= s->reach)
		s->reach = -1;
}

static void end_line(struct scan *s, const struct ab_token *t)
{
	const char *text = s->k->text->text;
	bool goes_on = (t->kind == AB_TOKEN_SIGN &&
			memchr(".)]}+|&?:", text[t->at], 9)) ||
		       (s->before.kind == AB_TOKEN_SIGN &&
			memchr("=(,[{.+|&\\>", text[s->before.at], 11));

	if (!goes_on)
		end_statement(s);
}

/* `x =`, `x +=`, `x <-`, `{x, y} =`, `a["x"] =`: what is given something. */
static void note_target(struct scan *s, const struct ab_token *t)
{
	const char *text = s->k->text->text;
	char next = s->x.pos < s->x.len ? s->x.text[s->x.pos] : 0;
	bool is_group = s->before.kind == AB_TOKEN_SIGN &&
			memchr(")]}", text[s->before.at], 3);
	const struct ab_token *name =
		s->before.kind == AB_TOKEN_WORD ? &s->before : &s->behind;

	if ((next && memchr("=~>", next, 3)) ||
	    (s->before.kind == AB_TOKEN_SIGN &&
	     memchr("=!>", text[s->before.at], 3)) ||
	    t->at == 0)
		return;
	s->all[level(s)].target =
		is_group			 ? s->group :
		name->kind == AB_TOKEN_WORD ? bare(s->k->text, name->at,
						      name->len) :
						 (struct span){ 0 };
}

/* The parameters of what is called back: (a, b) =>, function (a, b) {. */
static void note_arrow(struct scan *s)
{
	if (s->reach < 0)
		return;
	if (s->before.kind == AB_TOKEN_WORD)
		add_name(s, bare(s->k->text, s->before.at, s->before.len));
	else if (ab_code_is_sign(s->k, &s->before, ')'))
		add_names(s, s->group);
}

static void open_bracket(struct scan *s, const struct ab_token *t, char ch)
{
	if (ch == '{' && s->is_function)
		note_arrow(s);
	s->is_function &= ch != '{';
	s->depth++;
	if (s->depth >= MAX_DEPTH)
		return;
	s->all[s->depth].open = s->before.kind == AB_TOKEN_WORD ? s->before.at
								 : t->at;
	s->all[s->depth].target = s->all[s->depth].feeder =
		(struct span){ 0 };
	s->all[s->depth].is_fed = false;
}

static void close_bracket(struct scan *s, const struct ab_token *t)
{
	if (s->depth < MAX_DEPTH)
		s->group = (struct span){ s->all[s->depth].open, t->at };
	s->depth -= s->depth > 0;
	if ((int)s->depth < s->reach)
		s->reach = -1;
}

static void see_sign(struct scan *s, const struct ab_token *t)
{
	char ch = s->k->text->text[t->at];
	char next = s->x.pos < s->x.len ? s->x.text[s->x.pos] : 0;

	if (memchr("([{", ch, 3))
		open_bracket(s, t, ch);
	else if (memchr(")]}", ch, 3))
		close_bracket(s, t);
	else if (ch == ';')
		end_statement(s);
	else if (ch == '=' && next == '>')
		note_arrow(s);
	else if (ch == '=' || (ch == '-' && s->k->lang == AB_OTHER &&
			       ab_code_is_sign(s->k, &s->before, '<')))
		note_target(s, t);
}

/* open(path, ...), writeFileSync(path, ...) */
static void note_path(struct scan *s, const struct ab_token *t)
{
	static const char *const names[] = {
		"writeFileSync",     "writeFile",     "write",
		"file_put_contents", "write_file",    "writeTextFile",
		"writeTextFileSync", "outputFile",    "binwrite",
	};
	const struct span name = bare(s->k->text, t->at, t->len);
	char next = s->x.pos < s->x.len ? s->x.text[s->x.pos] : 0;

	if (AB_LIKELY(next != ',') || !ab_code_is_sign(s->k, &s->before, '('))
		return;
	if (is_word(s, &s->behind, names, AB_ARRAY_LEN(names))) {
		s->all[level(s)].feeder = name;
	} else if (ab_code_is_text(s->k, &s->behind, "open")) {
		s->path = name;
		s->file = s->depth && s->depth < MAX_DEPTH
				  ? s->all[s->depth - 1].target
				  : (struct span){ 0 };
	}
}

/* x.write(...), x.communicate(...), print x ... */
static void note_feeder(struct scan *s, const struct ab_token *t)
{
	static const char *const names[] = {
		"write", "communicate", "writelines", "puts", "print",
		"send",	 "sendall",	"end",	      "say",  "printf",
		"pipe",	 "pipeTo",	"print_r",    "fwrite", "fputs",
	};
	uint32_t top = level(s);

	if (!is_word(s, t, names, AB_ARRAY_LEN(names)))
		return;
	s->all[top].is_fed = true;
	if (ab_code_is_sign(s->k, &s->before, '.') &&
	    s->behind.kind == AB_TOKEN_WORD)
		s->all[top].feeder = bare(s->k->text, s->behind.at,
					  s->behind.len);
	/* response.body.pipe(child.stdin) */
	if (t->len >= 4 && !memcmp(s->k->text->text + t->at, "pipe", 4))
		s->r->is_fed |= s->reach >= 0;
}

static void see_word(struct scan *s, const struct ab_token *t)
{
	static const char *const heads[] = { "def", "sub", "function", "func" };
	const struct ab_code *k = s->k;
	const struct span name = bare(k->text, t->at, t->len);

	if (is_word(s, &s->before, heads, AB_ARRAY_LEN(heads)))
		s->function = name;
	s->is_function |= ab_code_is_text(k, t, "function");
	s->is_returned |= ab_code_is_text(k, t, "return");
	/* for x in, for x of: behind them is what it is given */
	if (s->before.kind == AB_TOKEN_WORD &&
	    (ab_code_is_text(k, t, "in") || ab_code_is_text(k, t, "of")))
		s->all[level(s)].target = bare(k->text, s->before.at,
					       s->before.len);
	if (s->reach >= 0 &&
	    (s->is_import || ab_code_is_text(k, &s->before, "as") ||
	     ab_code_is_text(k, &s->before, "lambda") ||
	     ab_code_is_sign(k, &s->before, '|')))
		add_name(s, name);
	if (ab_code_is_text(k, &s->before, "as"))
		s->file = name;
	note_path(s, t);
	/* fetch(u).then(r => r.text()).then(x.execSync) */
	s->r->is_handed |= s->reach >= 0 && s->x.pos < s->x.len &&
			   s->x.text[s->x.pos] == ')' &&
			   (ab_code_is_text(k, t, "execSync") ||
			    ab_code_is_text(k, t, "exec"));
	s->is_import |= k->lang == AB_PY && s->reach >= 0 &&
			ab_code_is_text(k, t, "import");
	note_feeder(s, t);
}

static void see_token(struct scan *s, const struct ab_token *t)
{
	if (t->is_line && !(s->k->lang & (AB_PERL | AB_PHP)))
		end_line(s, t);
	if (is_remote(s->k, s->r, t, s->x, &s->before, &s->behind))
		note_source(s, t);
	if (t->kind == AB_TOKEN_SIGN)
		see_sign(s, t);
	else if (t->kind == AB_TOKEN_WORD)
		see_word(s, t);
	s->behind = s->before;
	s->before = *t;
}

static const struct ab_remote *remote_of(struct ab_code *k)
{
	static const struct ab_remote none = { 0 };
	struct ab_remote found = { 0 }, *r;
	struct scan s = { .k = k, .r = &found, .reach = -1, .x = k->x };
	struct ab_token t;

	if (k->remote)
		return k->remote;
	ab_lexer_rewind(&s.x);
	s.x.len = k->text->len;
	while (ab_lexer_next(&s.x, &t))
		see_token(&s, &t);
	k->remote = &none;
	if (!found.has_source)
		return k->remote;
	r = ab_arena_high(k->c->high, sizeof(*r));
	if (!r) {
		k->c->is_broken = true;
		return k->remote;
	}
	*r = found;
	return k->remote = r;
}

bool ab_code_fetches(struct ab_code *k)
{
	return remote_of(k)->has_source;
}

bool ab_code_feeds(struct ab_code *k)
{
	return remote_of(k)->is_fed;
}

bool ab_code_is_remote(const struct ab_code *k, const struct ab_token *t,
		       struct ab_lexer x, const struct ab_token *before,
		       const struct ab_token *behind)
{
	return k->remote && k->remote->has_source &&
	       is_remote(k, k->remote, t, x, before, behind);
}

void ab_code_remote_hole(struct ab_code *k, struct ab_word *w)
{
	struct ab_stream *origin = ab_check_alloc(k->c, sizeof(*origin));
	struct ab_hole *hole = ab_check_alloc(k->c, sizeof(*hole));

	if (!origin || !hole)
		return;
	*origin = (struct ab_stream){ .taint = AB_TAINT_REMOTE,
				      .span = k->text->span };
	*hole = (struct ab_hole){ .kind = AB_HOLE_BYTES, .origin = origin,
				  .span = k->text->span };
	*w = (struct ab_word){ .text = "", .holes = hole, .hole_count = 1,
			       .span = k->text->span };
}

/* --- code that is not in the table ---------------------------------------- */

#define MAX_ARGUMENT 64 /* tokens */

/* What stands behind a name that runs code is from the network; of a command,
   what stands behind a "-c". */
static bool runs_remote(const struct ab_code *k, struct ab_lexer x,
			struct ab_token last, bool is_code)
{
	const bool is_lisp = k->x.traits & AB_LEX_LISP;
	struct ab_token t, before = last, behind = { 0 };
	int depth = 0;

	for (uint32_t i = 0; i < MAX_ARGUMENT && ab_lexer_next(&x, &t); i++) {
		char ch = t.kind == AB_TOKEN_SIGN ? k->text->text[t.at] : 0;

		if (!depth && i && !is_lisp && (t.is_line || ch == ';'))
			break;
		depth += ch && memchr("([{", ch, 3);
		depth -= ch && memchr(")]}", ch, 3);
		if (depth < 0 || (!depth && ch == ')' && !is_lisp))
			break;
		is_code |= t.kind == AB_TOKEN_STRING && t.len == 2 &&
			   !memcmp(k->text->text + t.at, "-c", 2);
		if (is_code && ab_code_is_remote(k, &t, x, &before, &behind))
			return true;
		behind = before;
		before = t;
	}
	return false;
}

static bool may_run_remote(const struct ab_code *k)
{
	const struct ab_word *w = k->text;

	if (k->lang == AB_JS)
		return memmem(w->text, w->len, "import(", 7) ||
		       memmem(w->text, w->len, "exec)", 5) ||
		       memmem(w->text, w->len, "execSync)", 9);
	return k->lang == AB_OTHER && memmem(w->text, w->len, "://", 3);
}

/* It names what runs code, or a command (is_code says which). */
static bool is_runner(const struct ab_code *k, const struct ab_token *t,
		      bool *is_code)
{
	static const char *const names[] = {
		"eval",	       "evaluate",    "Eval",	      "source",
		"include",     "include_string", "eval_string", "evalString",
		"eval-buffer", "eval-region", "load-file",    "load-string",
		"eval_quoted", "compile_string", "runScript",  "sourceCpp",
		"evalq",       "source_url",  "source_gist",
	};
	static const char *const commands[] = { "cmd",	   "shell", "sh",
						"run",	   "exec",  "system2",
						"execute", "ProcessBuilder" };

	*is_code = k->lang == AB_JS
			   ? ab_code_is_text(k, t, "import") &&
				     ab_code_next_byte(k->text, t->at + 6) ==
					     '('
			   : ab_code_is_one_of(k, t, names,
					       AB_ARRAY_LEN(names));
	return *is_code || (k->lang == AB_OTHER &&
			    ab_code_is_one_of(k, t, commands,
					      AB_ARRAY_LEN(commands)));
}

/* What the network sent may be what the program prints, where somebody reads
   that. */
static void print_remote(struct ab_code *k)
{
	const struct ab_shell_command *cmd = k->c->command;

	if (k->lang == AB_AWK || !cmd ||
	    (!cmd->place.out && !cmd->redir_count))
		return;
	if (ab_code_fetches(k))
		k->c->out_taint |= AB_TAINT_REMOTE;
}

/* R, julia, groovy, elixir, emacs and others: eval(...), source("https://x"),
   cmd("sh", ["-c", get(...)]); js: import("data:..." + x) */
void ab_code_check_remote(struct ab_code *k)
{
	struct ab_lexer x = k->x;
	struct ab_token t;
	bool is_code;

	print_remote(k);
	if (AB_LIKELY(!may_run_remote(k)) || !ab_code_fetches(k))
		return;
	if (k->remote->is_handed)
		ab_check_flow(k->c, k->use, AB_SINK_CODE, AB_TAINT_REMOTE,
			      k->text);
	ab_lexer_rewind(&x);
	x.len = k->text->len;
	while (ab_lexer_next(&x, &t)) {
		if (!is_runner(k, &t, &is_code) ||
		    !runs_remote(k, x, t, is_code))
			continue;
		ab_check_flow(k->c, k->use, AB_SINK_CODE, AB_TAINT_REMOTE,
			      k->text);
		return;
	}
}

/* php: include "https://x"; js: import("https://x"), and what a program
   always has with it: import y from "https://x". */
void ab_code_import(struct ab_code *k, const struct ab_token *t)
{
	static const char *const names[] = { "include", "include_once",
					     "require", "require_once",
					     "import", "importScripts" };
	const struct ab_token *name = ab_code_is_sign(k, &k->before, '(')
					      ? &k->behind
					      : &k->before;

	if (AB_LIKELY(!is_address(k->text, t)) ||
	    !(k->lang & (AB_PHP | AB_JS)))
		return;
	if (k->lang == AB_JS && (ab_code_is_text(k, &k->before, "from") ||
				 ab_code_is_text(k, &k->before, "import")))
		ab_check_known(k->c, AB_KNOWN_OPAQUE, AB_V_ASK, k->text);
	else if (ab_code_is_one_of(k, name, names, AB_ARRAY_LEN(names)))
		ab_check_flow(k->c, k->use, AB_SINK_CODE, AB_TAINT_REMOTE,
			      k->text);
}
