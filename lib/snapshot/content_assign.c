/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Where the value of a name is, in the languages that programs and their
 * settings are written in. It finds places and judges nothing: whether a value
 * is a secret is content_config.c's. What it does not know: a value that is
 * computed, and a name that is far from it.
 */
#include "config.h"

#include "snapshot/content_internal.h"

#include <string.h>

#include "base/attr.h"

#define run ab_content_run
#define is_one_of ab_content_is_one_of

/* How far the parts of one declaration may be from one another. */
#define LINE 350

static const uint8_t *blanks(const uint8_t *p, const uint8_t *hi)
{
	return run('b', p, hi, 32);
}

const uint8_t *ab_content_whole_name(const ab_content_window *w)
{
	const uint8_t *p = w->at;

	while (p > w->lo && w->at - p < 96 &&
	       (ab_content_class('W', p[-1]) || is_one_of(".:", p[-1])))
		p--;
	/* a line that a patch removes */
	if (p < w->at && p[0] == '-' && p[1] != '-' && ab_content_is_line(w, p))
		p++;
	return p;
}

const uint8_t *ab_content_next_element(const ab_content_window *w,
				       const uint8_t *p)
{
	static const char *const ends[] = { "</name>", "</key>" };
	static const char *const begins[] = { "<value>", "<string>" };

	for (size_t i = 0; i < AB_ARRAY_LEN(ends); i++) {
		const uint8_t *q = p + strlen(ends[i]);

		if (!ab_content_at(w, p, ends[i], true))
			continue;
		q = run('s', q, w->hi, 64);
		if (ab_content_at(w, q, begins[i], true))
			return q + strlen(begins[i]);
	}
	return NULL;
}

/*
 * A quote at p, perhaps escaped: what ends the value, and the value. One in
 * another ("\"v\"" of a generator of code, '"v"' of a shell) is what counts,
 * and so are three.
 */
static const uint8_t *open_quote(const uint8_t *p, const uint8_t *hi,
				 uint8_t *quote)
{
	*quote = 0;
	for (int depth = 0; depth < 2; depth++) {
		const uint8_t *q = p;

		/* JSON in JSON in JSON has three before one */
		while (q < hi && q - p < 7 && *q == '\\')
			q++;
		if (q > p && q < hi && ab_content_class('Q', *q)) {
			*quote = '\\';
			return q + 1;
		}
		if (p == hi || !ab_content_class('Q', *p) || *p == *quote)
			break;
		*quote = *p++;
	}
	if (hi - p > 1 && *quote && p[0] == *quote && p[1] == *quote)
		p += 2;
	return p;
}

/* The same, with what languages have before a string or around it. */
static const uint8_t *open_string(const ab_content_window *w,
				  const uint8_t *p, uint8_t *quote)
{
	static const char *const fronts[] = {
		"@",	     "b",	   "r",	      "u",
		"L",	     "f",	   "$",	      "{",	"N",
		"[]byte(",   "[]byte{",	   "bytes(",  "Buffer.from(",
		"new(",	     "String(",	   "b(",      "String::from(",
		"string(",   "std::string(", "Secret(", "SecretStr(",
		"Fernet(",   "Fernet(b",   "Field(",  "Field(default=",
		"field(default=", "SecretString(", "new String(", "(",
	};

	for (size_t i = 0; i < AB_ARRAY_LEN(fronts); i++) {
		const uint8_t *end = p + strlen(fronts[i]);

		if (ab_content_at(w, p, fronts[i], false) && end < w->hi &&
		    ab_content_class('Q', *end))
			return open_quote(end, w->hi, quote);
	}
	if (p < w->hi && *p == '`') {
		*quote = *p;
		return p + 1;
	}
	if (ab_content_at(w, p, "[[", false)) { /* Lua's */
		*quote = ']';
		return p + 2;
	}
	return open_quote(p, w->hi, quote);
}

/* A string that may be in the next line; NULL: there is none. */
static const uint8_t *next_string(const ab_content_window *w, const uint8_t *p,
				  uint8_t *quote)
{
	p = run('s', p, w->hi, 96);
	/* in brackets of its own, as Python has a long one */
	if (p < w->hi && *p == '(' && !(w->kind & AB_CONTENT_TESTS))
		p = run('s', p + 1, w->hi, 96);
	p = open_string(w, p, quote);
	return *quote ? p : NULL;
}

/*
 * The string behind a declaration's type, which stands between ':' or a blank
 * and '=': name: &'static str = "v", name: String? = "v", name string = "v".
 */
static const uint8_t *typed(const ab_content_window *w, const uint8_t *p,
			    uint8_t *quote)
{
	const uint8_t *end = p;

	while (end < w->hi && end - p < 32 &&
	       (ab_content_class('.', *end) || is_one_of("&'?<>[] *", *end)) &&
	       *end != '=')
		end++;
	/* in base64 nothing is before the '=', and a string is no type */
	if (end == w->hi || *end != '=' || end == p || end[-1] != ' ' ||
	    is_one_of("'", *blanks(p, end)))
		return NULL;
	p = open_string(w, blanks(end + 1, w->hi), quote);
	return *quote ? p : NULL;
}

/* ${X:-v}, ${X:v}: what stands in for a variable, whatever its name. */
static const uint8_t *variable(const ab_content_window *w, const uint8_t *p,
			       uint8_t *quote)
{
	if (!ab_content_at(w, p, "${", false))
		return NULL;
	p = run('g', run('W', p + 2, w->hi, 64), w->hi, 64);
	if (p == w->hi || *p != ':')
		return NULL;
	p++;
	if (p < w->hi && is_one_of("-=", *p))
		p++;
	p = open_string(w, p, quote);
	if (!*quote)
		*quote = '}';
	return p;
}

/*
 * YAML's: "!!str v" and "&name v", and a block, "|" or ">-" with v in the line
 * below.
 */
static const uint8_t *scalar(const ab_content_window *w, const uint8_t *p,
			     uint8_t *quote)
{
	const uint8_t *end;

	p = blanks(p, w->hi);
	/* "!Ref" and its like say that v is a name */
	if (ab_content_at(w, p, "&", false) ||
	    ab_content_at(w, p, "!!", false)) {
		end = p;
		while (end < w->hi && end - p < 32 &&
		       (ab_content_class('W', *end) || is_one_of("!&", *end)))
			end++;
		p = blanks(end, w->hi);
		return p > end ? open_string(w, p, quote) : NULL;
	}
	if (p == w->hi || !is_one_of("|>", *p))
		return NULL;
	for (end = p + 1; end < w->hi && end - p < 3 && is_one_of("-+", *end);)
		end++;
	p = blanks(end, w->hi);
	if (p == w->hi || !is_one_of("\r\n", *p))
		return NULL;
	return open_string(w, run('s', p, w->hi, 96), quote);
}

/*
 * A list's first item, as recordings of HTTP have headers: name: ["v"], and
 * in YAML "- v" in the line below.
 */
static const uint8_t *first_item(const ab_content_window *w, const uint8_t *p,
				 uint8_t *quote)
{
	const uint8_t *q = run('s', p, w->hi, 96);

	if (q < w->hi && *q == '[')
		return next_string(w, q + 1, quote);
	p = blanks(p, w->hi);
	if (p == w->hi || !is_one_of("\r\n", *p) ||
	    !ab_content_at(w, q, "- ", false))
		return NULL;
	return open_string(w, blanks(q + 1, w->hi), quote);
}

/* "The password is `v`", "set the password to 'v'": always in quotes. */
static const uint8_t *told(const ab_content_window *w, const uint8_t *p,
			   uint8_t *quote)
{
	static const char *const words[] = { "is ", "is: ", "to ", "was " };

	for (size_t i = 0; i < AB_ARRAY_LEN(words); i++) {
		if (!ab_content_at(w, p, words[i], false))
			continue;
		p = open_string(w, p + strlen(words[i]), quote);
		return *quote ? p : NULL;
	}
	return NULL;
}

/* Behind the braces of a property of C#; p where none end. */
static const uint8_t *behind_accessors(const ab_content_window *w,
				       const uint8_t *p)
{
	const uint8_t *hi = w->hi - p > 64 ? p + 64 : w->hi;
	const uint8_t *end = memchr(p, '}', (size_t)(hi - p));

	return end ? blanks(end + 1, w->hi) : p;
}

/* Behind "<value>", which a property may have inside; p where it has not. */
static const uint8_t *behind_tag(const ab_content_window *w, const uint8_t *p)
{
	const uint8_t *tag = run('s', p, w->hi, 64);

	return ab_content_at(w, tag, "<value>", true) ?
		       tag + strlen("<value>") :
		       p;
}

/* Behind a line's end that '\\' takes away; p where none is. */
static const uint8_t *next_line(const uint8_t *p, const uint8_t *hi)
{
	const uint8_t *q = blanks(p, hi);

	if (hi - q < 2 || *q != '\\' || !is_one_of("\r\n", q[1]))
		return p;
	q += q[1] == '\r' && hi - q > 2 ? 2 : 1;
	return *q == '\n' ? blanks(q + 1, hi) : p;
}

/* Of a table: what is in the next cell, in backquotes or not. */
static const uint8_t *cell(const ab_content_window *w, const uint8_t *p,
			   uint8_t *quote)
{
	p = open_string(w, blanks(p, w->hi), quote);
	if (!*quote)
		*quote = '|';
	return p;
}

/*
 * The value behind a name: of "name: v", name := "v", "name" => "v",
 * ["name"] = "v", #define name "v", f("name", "v"), name("v"), name{"v"},
 * name ?= v, name <- "v", <name>v</name>, <x key="name">v</x>,
 * name" value="v", name: T = "v", name { get; set; } = "v", **name**: v,
 * | name | v |, name: ["v"] and name is "v". *quote is what has to end it; 0:
 * the line's end.
 */
static const uint8_t *assigned(const ab_content_window *w, const uint8_t *p,
			       uint8_t *quote)
{
	const uint8_t *value = ab_content_next_element(w, p);
	const uint8_t *begin;
	bool is_quoted;

	*quote = '<';
	if (value)
		return value;
	if (p < w->hi && *p == '>') {
		if (!ab_content_at(w, ++p, "<![CDATA[", false))
			return behind_tag(w, p);
		*quote = ']';
		return p + strlen("<![CDATA[");
	}
	/* setPassword("v"), and a constructor of C++ */
	if (w->hi - p > 1 && is_one_of("({", *p) && ab_content_class('Q', p[1]))
		return open_quote(p + 1, w->hi, quote);
	if (ab_content_at(w, p, ":** ", false)) /* **name:** v */
		return open_string(w, blanks(p + 4, w->hi), quote);
	if (ab_content_at(w, p, "**", false))
		p += 2;
	p = open_quote(p, w->hi, quote);
	is_quoted = *quote != 0;
	if (is_quoted && p < w->hi && *p == '>') {
		*quote = '<';
		return behind_tag(w, p + 1);
	}
	if (is_quoted && p < w->hi && *p == ']')
		p++;
	else if (ab_content_at(w, p, "[]", false)) /* an array of C */
		p += 2;
	else if (ab_content_at(w, p, "] = ", false)) /* env[NAME] = v */
		p++;
	begin = p;
	p = blanks(p, w->hi);
	/* as a macro of C or a word of Tcl */
	if (!*quote && p > begin && p < w->hi && is_one_of("\"'`", *p))
		return open_string(w, p, quote);
	if (!*quote && p > begin && ab_content_at(w, p, "string ", false))
		return typed(w, p, quote);
	if (!*quote && ab_content_at(w, p, "{ get", false))
		p = behind_accessors(w, p);
	else if (!*quote && ab_content_at(w, p, "<-", false))
		return next_string(w, p + 2, quote);
	else if (w->hi - p > 1 && is_one_of("?+", *p) && p[1] == '=')
		p++;
	else if (w->hi - p > 1 && *p == '|' && ab_content_class('b', p[1]))
		return cell(w, p + 1, quote);
	else if (!*quote && p > begin && (value = told(w, p, quote)))
		return value;
	if (ab_content_at(w, p, "value", true))
		p = blanks(p + 5, w->hi);
	if (p == w->hi ||
	    (*p != '=' && *p != ':' && !(is_quoted && *p == ',')))
		return NULL;
	is_quoted = *p == ',';
	p++;
	if (p < w->hi && ((p[-1] == '=' && *p == '>') ||
			  (p[-1] == ':' && *p == '=')))
		p++;
	else if (!is_quoted && p[-1] == ':') {
		value = typed(w, p, quote);
		if (value)
			return value;
	}
	p = next_line(p, w->hi);
	value = is_quoted ? NULL : next_string(w, p, quote);
	if (!value && !is_quoted)
		value = first_item(w, p, quote);
	if (!value && p[-1] == ':')
		value = scalar(w, p, quote);
	if (value)
		return value;
	p = blanks(p, w->hi);
	value = variable(w, p, quote);
	if (value)
		return value;
	p = open_string(w, p, quote);
	/* what is no string is an argument's name */
	return is_quoted && !*quote ? NULL : p;
}

/* "word: v", "word" = "v": the value, or NULL. */
static const uint8_t *pair(const ab_content_window *w, const uint8_t *p,
			   const char *word, uint8_t *quote)
{
	p = run('q', p, w->hi, 2);
	if (!ab_content_at(w, p, word, true))
		return NULL;
	p = blanks(run('q', p + strlen(word), w->hi, 2), w->hi);
	if (p == w->hi || !is_one_of(":=", *p))
		return NULL;
	return open_quote(blanks(p + 1, w->hi), w->hi, quote);
}

/*
 * The first of these pairs, each of which begins behind a comma or a line.
 * Before *mark, if there is one, is none: whoever searched last has left it
 * at the comma from which to go on.
 */
static const uint8_t *first_pair(const ab_content_window *w, const uint8_t *p,
				 const char *const *words, size_t n,
				 const uint8_t **mark, uint8_t *quote)
{
	const uint8_t *end = w->hi - p > LINE ? p + LINE : w->hi;
	const uint8_t *begin = p, *value = NULL;

	if (mark && *mark > p)
		p = *mark;
	/* what is nested has names of its own */
	for (; p < end && *p != '}' && (p == begin || !is_one_of("{[", *p));
	     p++) {
		const uint8_t *next;

		if (*p != '\n' && *p != ',')
			continue;
		next = run('s', p + 1, end, LINE);
		/* what is beyond the end, or the list's next */
		if (next == end || *next == '-')
			break;
		for (size_t i = 0; !value && i < n; i++)
			value = pair(w, next, words[i], quote);
		if (value)
			break;
		p = next - 1; /* empty lines would all end there */
	}
	if (mark)
		*mark = p;
	return value;
}

/*
 * What a list has behind the name for its value: name: N and value: V in two
 * lines, {"key": "N", "value": "V"}, variable "N" { default = "V" }.
 */
static const uint8_t *listed(const ab_content_window *w, const uint8_t *p,
			     uint8_t *quote)
{
	static const char *const values[] = { "value", "parametervalue",
					      "defaultvalue" };
	static const char *const defaults[] = { "default" };

	p = blanks(run('q', p, w->hi, 2), w->hi);
	if (p == w->hi || !is_one_of(",\r\n{", *p))
		return NULL;
	if (*p == '{')
		return first_pair(w, p, defaults, AB_ARRAY_LEN(defaults), NULL,
				  quote);
	return first_pair(w, p, values, AB_ARRAY_LEN(values),
			  &w->marks[AB_MARK_LISTED], quote);
}

/* p before what of this class ends there. */
static const uint8_t *before(const ab_content_window *w, char class,
			     const uint8_t *p, size_t max)
{
	return ab_content_back(class, w, p, max);
}

/*
 * Such a pair the other way round: {"value": "V", "name": "N"}, or the
 * attributes of an element.
 */
static const uint8_t *listed_before(const ab_content_window *w,
				    const uint8_t *name, uint8_t *quote)
{
	static const char *const words[] = { "name", "key", "id" };
	const uint8_t *p = name, *end, *lo;
	size_t i = 0;

	if (p == w->lo || !ab_content_class('Q', p[-1]))
		return NULL;
	p = before(w, 'b', p - 1, 8);
	if (p == w->lo || !is_one_of(":=", p[-1]))
		return NULL;
	p = before(w, 'q', before(w, 'b', p - 1, 8), 1);
	end = p;
	p = before(w, 'L', p, 8);
	while (i < AB_ARRAY_LEN(words) &&
	       !((size_t)(end - p) == strlen(words[i]) &&
		 ab_content_at(w, p, words[i], true)))
		i++;
	if (i == AB_ARRAY_LEN(words))
		return NULL;
	p = before(w, 's', before(w, 'q', p, 1), 64);
	if (p > w->lo && p[-1] == ',')
		p = before(w, 's', p - 1, 8);
	if (p == w->lo || !ab_content_class('Q', p[-1]))
		return NULL;
	*quote = *--p;
	lo = p - w->lo > 128 ? p - 128 : w->lo;
	lo = memrchr(lo, *quote, (size_t)(p - lo));
	if (!lo)
		return NULL;
	p = before(w, 'b', lo, 8);
	if (p == w->lo || !is_one_of(":=", p[-1]))
		return NULL;
	p = before(w, 'q', before(w, 'b', p - 1, 8), 1);
	if (p - w->lo < 5 || !ab_content_at(w, p - 5, "value", true))
		return NULL;
	return lo + 1;
}

/*
 * What stands in for a variable that is not set: ${NAME:-v} of a shell,
 * ${name:v} of Spring.
 */
static const uint8_t *stand_in(const ab_content_window *w,
			       const uint8_t *name, const uint8_t *p,
			       uint8_t *quote)
{
	const uint8_t *begin = p;

	if (name - w->lo < 2 || name[-1] != '{' || name[-2] != '$')
		return NULL;
	if (p < w->hi && *p == ':')
		p++;
	if (p < w->hi && is_one_of("-=", *p))
		p++;
	if (p == begin)
		return NULL;
	p = open_string(w, p, quote);
	if (!*quote)
		*quote = '}';
	return p;
}

/*
 * The same of an expression: name || "v", env["name"] ?? "v",
 * get("name") or "v", fetch("name") { "v" }, name | default("v"), and of an
 * option's declaration: "--name", default="v".
 */
static const uint8_t *alternative(const ab_content_window *w,
				  const uint8_t *name, const uint8_t *p,
				  uint8_t *quote)
{
	/* two question marks begin a trigraph */
	static const char *const marks[] = {
		"||=", "||",   "?" "?=",   "?" "?",
		"?:",  " or ", "|default", "| default", ") {",
	};
	const uint8_t *hi = w->hi - p > 128 ? p + 128 : w->hi;
	bool is_option = name < p && *name == '-' && name > w->lo &&
			 ab_content_class('Q', name[-1]);

	for (; p < hi; p++) {
		size_t i = 0;

		switch (*p) {
		case '\n':
		case ';':
		case '{':
		case '}':
			return NULL;
		case ',':
		case '#':
			if (!is_option)
				return NULL;
			continue;
		case 'd':
			if (is_option &&
			    ab_content_at(w, p, "default=", false))
				return next_string(w, p + strlen("default="),
						   quote);
			continue;
		case ' ': /* of " or " */
			if (w->hi - p < 2 || p[1] != 'o')
				continue;
			break;
		case '|': /* what the marks begin with */
		case '?':
		case ')':
			break;
		default:
			continue;
		}
		if (is_option)
			continue;
		while (i < AB_ARRAY_LEN(marks) &&
		       !ab_content_at(w, p, marks[i], false))
			i++;
		if (i == AB_ARRAY_LEN(marks))
			continue;
		p += strlen(marks[i]);
		return next_string(w, p < w->hi && *p == '(' ? p + 1 : p,
				   quote);
	}
	return NULL;
}

/*
 * The name is what a command sets to the next word: ENV of a Dockerfile, set
 * -gx of fish, setenv of csh, setx of Windows.
 */
static bool is_set_by_command(const ab_content_window *w, const uint8_t *name)
{
	static const char *const words[] = { "env", "setenv", "setx", "set" };
	const uint8_t *lo = name - w->lo > 96 ? name - 96 : w->lo;
	const uint8_t *p = memrchr(lo, '\n', (size_t)(name - lo)), *end;
	bool is_sure = false;
	size_t i = 0;

	if (!p && lo > w->lo)
		return false;
	p = p ? p + 1 : lo;
	if (ab_content_at(w, p, "\xef\xbb\xbf", false)) /* UTF-8's mark */
		p += 3;
	p = blanks(p, name);
	if (ab_content_at(w, p, "- cmd:", false)) /* fish's history */
		p = blanks(p + strlen("- cmd:"), name);
	end = run('L', p, name, 8);
	while (i < AB_ARRAY_LEN(words) &&
	       !((size_t)(end - p) == strlen(words[i]) &&
		 ab_content_at(w, p, words[i], true)))
		i++;
	if (i == AB_ARRAY_LEN(words))
		return false;
	/* without an option it is another shell's, of arguments */
	is_sure = i + 1 < AB_ARRAY_LEN(words);
	for (p = blanks(end, name); p < name && *p == '-';
	     p = blanks(end, name)) {
		end = run('a', p, name, 16);
		is_sure |= end - p > 2 || p[1] != '-';
	}
	return is_sure && p == name;
}

/* The same of a file of settings whose lines are of words, as servers have
   them: password V, proxy_set_header X-Api-Key V, set $token V. */
static bool is_directive(const ab_content_window *w, const uint8_t *name)
{
	const uint8_t *p = name;

	if (!(w->kind & AB_CONTENT_SETTINGS) || (w->kind & AB_CONTENT_TESTS))
		return false;
	if (p > w->lo && p[-1] == '$')
		p--;
	while (p > w->lo && name - p < 64 &&
	       (ab_content_class('W', p[-1]) || ab_content_class('b', p[-1])))
		p--;
	return ab_content_begins_line(w, p);
}

static const uint8_t *next_word(const ab_content_window *w,
				const uint8_t *name, const uint8_t *p,
				uint8_t *quote)
{
	if (p == w->hi || !ab_content_class('b', *p) ||
	    !(is_directive(w, name) || is_set_by_command(w, name)))
		return NULL;
	return open_quote(blanks(p, w->hi), w->hi, quote);
}

const uint8_t *ab_content_value_at(enum ab_content_where where,
				   const ab_content_window *w,
				   const uint8_t *name, const uint8_t *end,
				   uint8_t *quote)
{
	*quote = 0;
	switch (where) {
	case AB_WHERE_LISTED:
		return listed(w, end, quote);
	case AB_WHERE_LISTED_BEFORE:
		return listed_before(w, name, quote);
	case AB_WHERE_ASSIGNED:
		return assigned(w, end, quote);
	case AB_WHERE_STAND_IN:
		return stand_in(w, name, end, quote);
	case AB_WHERE_NEXT_WORD:
		return next_word(w, name, end, quote);
	case AB_WHERE_ALTERNATIVE:
		return alternative(w, name, end, quote);
	case AB_WHERE_COUNT:
		break;
	}
	return NULL;
}
