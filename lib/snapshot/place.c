/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where a name is and what is around it, see place.h. */
#include "config.h"

#include "snapshot/place.h"

#include <string.h>

#include "base/attr.h"
#include "base/limits.h"

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
}

/* Is the n bytes' text, folded, one of a sorted list? */
static bool is_one_of(const char *p, size_t n, const char *const *list,
		      size_t count)
{
	size_t low = 0;
	size_t high = count;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		const char *s = list[mid];
		size_t i = 0;
		int d;

		while (i < n && s[i] && lower(p[i]) == s[i])
			i++;
		d = (i < n ? (unsigned char)lower(p[i]) : 0) -
		    (unsigned char)s[i];
		if (d == 0)
			return true;
		if (d < 0)
			high = mid;
		else
			low = mid + 1;
	}
	return false;
}
#define ONE_OF(p, n, list) is_one_of(p, n, list, AB_ARRAY_LEN(list))

static const char *suffix_of(const char *p, size_t n, size_t *len)
{
	const char *dot = memrchr(p, '.', n);

	*len = dot && dot > p ? (size_t)(p + n - dot) - 1 : 0;
	return dot && dot > p ? dot + 1 : p + n;
}

/* Program text and documents; not the formats that hold data or settings. */
static bool is_source(const char *p, size_t n)
{
	static const char *const suffixes[] = {
		"1",	"1m",	"2",	"3",	"3pm",	"3x",	"4",	"5",
		"6",	"7",	"8",	"9",	"ac",	"ada",	"adb",	"adoc",
		"ads",	"am",	"asciidoc", "asm", "astro", "awk", "bash",
		"bat",	"bazel", "bzl",	"c",	"cc",	"cjs",	"cl",	"clj",
		"cljc", "cljs", "cls",	"cmake", "cmd", "coffee", "cpp",
		"cr",	"cs",	"cshtml", "css", "cts", "cu",	"cuh",	"cxx",
		"d",	"dart", "def",	"dockerfile", "eex", "ejs", "el",
		"elm",	"erb",	"erl",	"ex",	"exs",	"f",	"f90",	"fish",
		"frag", "fs",	"fsi",	"fsx",	"gif",	"glsl", "go",
		"gradle", "graphql", "groovy", "h", "haml", "hbs", "heex",
		"hh",	"hlsl", "hpp",	"hrl",	"hs",	"htm",	"html", "hxx",
		"ico",	"idl",	"in",	"inc",	"inl",	"ipp",	"j2",	"java",
		"jinja", "jinja2", "jl", "jpeg", "jpg", "js",	"jsx",	"kt",
		"kts",	"less", "lhs",	"liquid", "lisp", "lua", "m",	"m4",
		"make", "markdown", "md", "mdx", "metal", "mjs", "mk",	"ml",
		"mli",	"mm",	"mts",	"mustache", "nim", "nix", "nut", "p6",
		"pas",	"patch", "php", "phtml", "pl",	"pm",	"png",	"po",
		"pod",	"pot",	"prisma", "proto", "ps1", "psm1", "pug", "pxd",
		"py",	"pyi",	"pyx",	"qml",	"r",	"rake", "raku", "razor",
		"rb",	"rbi",	"rkt",	"rs",	"rst",	"s",	"sass", "sbt",
		"scala", "scm", "scss", "sh",	"slim", "sol",	"ss",	"sty",
		"styl", "sv",	"svelte", "svg", "svh", "swift", "t",	"tcl",
		"tex",	"texi", "texinfo", "thrift", "tmpl", "tpl", "ts",
		"tsx",	"twig", "v",	"vala", "vb",	"vert", "vhd",	"vhdl",
		"vim",	"vue",	"wat",	"webp", "wgsl", "wit",	"xaml",
		"xhtml", "xsd", "xsl",	"xslt", "y",	"yy",	"zig",	"zsh"};
	static const char *const names[] = {
		"authors",	"build",	"cargo.toml",	"changelog",
		"changes",	"chart.yaml",	"codeowners",	"contributing",
		"copying",	"copyright",	"dockerfile",	"gemfile",
		"go.mod",	"go.sum",	"jenkinsfile",	"kconfig",
		"licence",	"license",	"makefile",	"meson.build",
		"news",		"notice",	"owners",	"package.json",
		"pom.xml",	"procfile",	"pyproject.toml", "rakefile",
		"readme",	"readme.txt",	"setup.cfg",	"todo",
		"tsconfig.json", "usage",	"vagrantfile"};
	size_t len;
	const char *suffix = suffix_of(p, n, &len);

	return (len && ONE_OF(suffix, len, suffixes)) || ONE_OF(p, n, names);
}

/* No log that was rotated or rendered: those end in a number or in HTML. */
static bool is_program(const ab_place *place)
{
	size_t len;
	const char *suffix = suffix_of(place->form, place->form_len, &len);

	return len && !(suffix[0] >= '0' && suffix[0] <= '9') &&
	       !(len >= 3 && memcmp(suffix, "htm", 3) == 0) &&
	       is_source(place->form, place->form_len);
}

/* Does a directory above have one of these names? */
static bool is_in(const ab_place *place, const char *const *list, size_t count)
{
	size_t from = 0;

	for (size_t i = 0; i <= place->parent_len; i++) {
		if (i < place->parent_len && place->path[i] != '/')
			continue;
		if (i > from &&
		    is_one_of(place->path + from, i - from, list, count))
			return true;
		from = i + 1;
	}
	return false;
}
#define IS_IN(place, list) is_in(place, list, AB_ARRAY_LEN(list))

static const char *parent_name(const char *path, size_t parent_len, size_t *n)
{
	const char *slash = memrchr(path, '/', parent_len);
	const char *name = slash ? slash + 1 : path;

	*n = parent_len - (size_t)(name - path);
	return name;
}

static bool has(const ab_filter_names *names, const char *name,
		bool is_directory)
{
	return names && names->has &&
	       names->has(names->data, name, is_directory);
}

static bool has_any(const ab_filter_names *names, const char *const *list,
		    size_t count, bool is_directory)
{
	for (size_t i = 0; i < count; i++)
		if (has(names, list[i], is_directory))
			return true;
	return false;
}
#define HAS_FILE(names, ...)                                          \
	has_any(names, (const char *const[]){__VA_ARGS__},            \
		AB_ARRAY_LEN(((const char *const[]){__VA_ARGS__})), false)
#define HAS_DIRECTORY(names, ...)                                     \
	has_any(names, (const char *const[]){__VA_ARGS__},            \
		AB_ARRAY_LEN(((const char *const[]){__VA_ARGS__})), true)

static bool has_suffix(const ab_filter_names *names, const char *const *list,
		       size_t count)
{
	for (size_t i = 0; names && names->at && i < AB_PLACE_NAMES_MAX; i++) {
		bool is_directory = true;
		const char *name = names->at(names->data, i, &is_directory);
		const char *suffix;
		size_t len;

		if (!name)
			return false;
		suffix = suffix_of(name, strlen(name), &len);
		if (!is_directory && len && is_one_of(suffix, len, list, count))
			return true;
	}
	return false;
}
#define HAS_SUFFIX(names, list) has_suffix(names, list, AB_ARRAY_LEN(list))

bool ab_place_is_manual(const char *path, size_t parent_len)
{
	static const char *const manuals[] = {
		"doc", "docs", "documentation", "man", "manpages", "manual",
		"manuals"};
	size_t n;
	const char *name = parent_name(path, parent_len, &n);

	return ONE_OF(name, n, manuals) ||
	       (n >= 4 && n <= 6 && memcmp(name, "man", 3) == 0 &&
		name[3] >= '1' && name[3] <= '9');
}

/* Of a name without suffix: do others like it stand beside it? */
static bool is_of_a_family(const ab_filter_names *names)
{
	static const char *const always[] = {"configure", "gradlew",
					     "makefile", "mvnw"};
	size_t count = 0;

	for (size_t i = 0; i < AB_PLACE_NAMES_MAX; i++) {
		bool is_directory = true;
		const char *name = names->at(names->data, i, &is_directory);
		size_t n = name ? strlen(name) : 0;

		if (!name)
			break;
		if (!is_directory && n && name[0] >= 'a' && name[0] <= 'z' &&
		    !memchr(name, '.', n) && !ONE_OF(name, n, always))
			count++;
	}
	return count > 4; /* the name itself is among them */
}

static bool is_form(const ab_place *place, const char *s)
{
	return place->form_len == strlen(s) &&
	       memcmp(place->form, s, place->form_len) == 0;
}

static bool is_lone(const ab_place *place)
{
	const ab_filter_names *n = place->siblings;

	if (place->is_directory)
		return false;
	if ((is_form(place, "shadow") && HAS_FILE(n, "passwd", "group")) ||
	    (is_form(place, "passwd") && HAS_FILE(n, "shadow", "group")) ||
	    (is_form(place, "identity") && HAS_FILE(n, "identity.pub")) ||
	    (is_form(place, "cookies") &&
	     HAS_FILE(n, "Login Data", "Cookies-journal", "History")))
		return true;
	return n && n->at && !is_of_a_family(n);
}

/*
 * One of many documents: a command's description among those of all commands,
 * one part of a translation. Where a manifest lies is a project's own root,
 * whose few files of this suffix are settings, and there it is a login.
 */
static bool is_of_a_table(const ab_place *place)
{
	const ab_filter_names *names = place->siblings;
	const char *own = place->path + place->parent_len;
	size_t own_len, len, count = 0;
	const char *suffix = suffix_of(place->form, place->form_len, &own_len);

	if (place->is_directory || place->parent_len == 0 || !own_len ||
	    place->n - place->parent_len - 1 != place->form_len ||
	    *own != '/' || !names || !names->at ||
	    HAS_FILE(names, "package.json", "composer.json", "tsconfig.json"))
		return false;
	for (size_t i = 0; i < AB_PLACE_NAMES_MAX; i++) {
		bool is_directory = true;
		const char *name = names->at(names->data, i, &is_directory);
		const char *other;

		if (!name)
			break;
		other = suffix_of(name, strlen(name), &len);
		if (!is_directory && name[0] != '.' && len == own_len &&
		    memcmp(other, suffix, len) == 0)
			count++;
	}
	return count > 8; /* the name itself is among them */
}

/* A chart's template of a secret, or the schema of one. */
static bool is_template(const ab_place *place)
{
	static const char *const places[] = {"crd", "crds", "schema",
					     "schemas", "templates"};

	return IS_IN(place, places);
}

/* Whatever it is called. */
bool ab_place_is_of_tests(const char *path, size_t parent_len)
{
	const ab_place place = { .path = path, .parent_len = parent_len };
	static const char *const places[] = {
		"__fixtures__", "__snapshots__", "__tests__", "expected",
		"fixture",	"fixtures",	 "golden",    "goldens",
		"mocks",	"regress",	 "selftest",  "spec",
		"specs",	"t",		 "test",      "test-data",
		"test-vectors",	"test_data",	 "test_vectors", "testdata",
		"tests",	"testsuite",	 "testvectors",	 "unittests",
		"vectors"};

	return IS_IN(&place, places);
}

static bool is_fixture(const ab_place *place)
{
	static const char *const shown[] = {"e2e", "example", "examples",
					    "sample", "samples"};

	return ab_place_is_of_tests(place->path, place->parent_len) ||
	       IS_IN(place, shown);
}

static bool is_document(const ab_place *place)
{
	static const char *const places[] = {"doc", "docs", "documentation",
					     "man", "manual"};

	return IS_IN(place, places);
}

/* Of x.tar.gz.sha256 only the first part is an archive's name. */
static bool is_sum(const ab_place *place)
{
	static const char *const suffixes[] = {
		"asc",	  "b2",	  "md5",    "minisig",	 "sha1",
		"sha224", "sha256", "sha256sum", "sha384", "sha512",
		"sha512sum", "sig", "sign", "sum"};
	size_t len;
	const char *suffix = suffix_of(place->form, place->form_len, &len);

	return len && ONE_OF(suffix, len, suffixes);
}

/* Is `word` in the name, between what is no letter? */
static bool has_word(const ab_place *place, const char *word)
{
	size_t w = strlen(word);

	for (size_t i = 0; i + w <= place->form_len; i++) {
		const char *p = place->form + i;

		if (memcmp(p, word, w) == 0 &&
		    (i == 0 || p[-1] < 'a' || p[-1] > 'z') &&
		    (i + w == place->form_len || p[w] < 'a' || p[w] > 'z'))
			return true;
	}
	return false;
}

static bool is_dump(const ab_place *place)
{
	static const char *const places[] = {
		"app",	      "contrib",    "database",	  "db",
		"ddl",	      "doc",	    "docs",	  "example",
		"examples",   "expected",   "extension",  "fixtures",
		"flyway",     "functions",  "init",	  "initdb",
		"input",      "lib",	    "liquibase",  "migrate",
		"migration",  "migrations", "models",	  "procedures",
		"queries",    "query",	    "regress",	  "resources",
		"sample",     "samples",    "schema",	  "schemas",
		"scripts",    "seeds",	    "share",	  "spec",
		"sql",	      "src",	    "t",	  "tables",
		"templates",  "test",	    "testdata",	  "tests",
		"triggers",   "views"};
	static const char *const names[] = {
		"create.sql",	 "functions.sql", "init.sql",
		"install.sql",	 "indexes.sql",	  "queries.sql",
		"schema.sql",	 "setup.sql",	  "structure.sql",
		"tables.sql",	 "triggers.sql",  "uninstall.sql",
		"upgrade.sql",	 "views.sql"};

	if (has_word(place, "dump") || has_word(place, "backup"))
		return !is_fixture(place);
	for (size_t i = 0; i < AB_ARRAY_LEN(names); i++)
		if (is_form(place, names[i]))
			return false;
	return !IS_IN(place, places);
}

/* Is a file there that is called so but for a suffix, which is not its own? */
static bool has_other_suffix(const ab_filter_names *names, const char *stem,
			     size_t n)
{
	if (!names || !names->at)
		return false;
	for (size_t i = 0; i < AB_PLACE_NAMES_MAX; i++) {
		bool is_directory = true;
		const char *name = names->at(names->data, i, &is_directory);
		size_t k = 0, len;
		const char *suffix;

		if (!name)
			break;
		while (k < n && lower(name[k]) == stem[k])
			k++;
		suffix = suffix_of(name, strlen(name), &len);
		if (!is_directory && k == n && name[n] == '.' &&
		    suffix == name + n + 1 && strcmp(suffix, "patch") != 0)
			return true;
	}
	return false;
}

/* The name without its suffix, or with another, stands beside it: a patch of
   that file, or what it was built with. */
static bool is_beside_its_stem(const ab_place *place)
{
	char stem[2 * AB_MAX_NAME + 3];
	size_t len;
	const char *suffix = suffix_of(place->form, place->form_len, &len);
	size_t n = (size_t)(suffix - place->form);

	if (n < 2 || n > sizeof(stem))
		return false;
	memcpy(stem, place->form, n - 1);
	stem[n - 1] = '\0';
	return has(place->siblings, stem, false) ||
	       has_other_suffix(place->siblings, stem, n - 1);
}

static bool is_stray(const ab_place *place)
{
	static const char *const places[] = {
		"contrib",  "debian",	"doc",	    "docs",	 "example",
		"examples", "files",	"fixtures", "nix",	 "overlays",
		"package",  "packages", "packaging", "patch",	 "patches",
		"pkgs",	    "ports",	"recipes",  "rpm",	 "sources",
		"spec",	    "t",	"test",	    "testdata",	 "tests"};
	static const char *const suffixes[] = {"bb", "ebuild", "spec"};
	const ab_filter_names *n = place->siblings;
	size_t len;
	const char *parent = parent_name(place->path, place->parent_len, &len);

	if (IS_IN(place, places) || memmem(parent, len, "patch", 5) ||
	    HAS_FILE(n, "series", "PKGBUILD", "APKBUILD", "default.nix",
		     "package.nix", "conanfile.py", "meta.yaml") ||
	    HAS_SUFFIX(n, suffixes) || is_beside_its_stem(place))
		return false;
	return place->parent_len == 0 ||
	       !HAS_FILE(n, "Makefile", "Dockerfile", "CMakeLists.txt");
}

static bool is_types(const ab_place *place)
{
	static const char *const ends[] = {".cjs.flow", ".js.flow",
					   ".jsx.flow", ".mjs.flow"};

	for (size_t i = 0; i < AB_ARRAY_LEN(ends); i++) {
		size_t n = strlen(ends[i]);

		if (place->form_len >= n &&
		    memcmp(place->form + place->form_len - n, ends[i], n) == 0)
			return true;
	}
	return false;
}

static bool is_dump_number(const ab_place *place)
{
	for (size_t i = sizeof("core.") - 1; i < place->form_len; i++)
		if (place->form[i] < '0' || place->form[i] > '9')
			return false;
	return !ab_place_is_manual(place->path, place->parent_len);
}

static bool is_beside_source(const ab_place *place)
{
	static const char *const projects[] = {"csproj", "fsproj", "sln",
					       "vbproj", "vcxproj"};
	const ab_filter_names *n = place->siblings;

	if (is_form(place, "target"))
		return HAS_FILE(n, "Cargo.toml", "pom.xml", "build.sbt");
	if (is_form(place, "bin") || is_form(place, "obj"))
		return HAS_SUFFIX(n, projects);
	return false;
}

/* What is no letter at all may be a disguise of one. */
static bool is_capital(const ab_place *place)
{
	const char *own = place->path + place->parent_len;

	own += *own == '/';
	return !(*own >= 'a' && *own <= 'z');
}

bool ab_place_agrees(const struct ab_name_rule *rule, const ab_place *place)
{
	const ab_filter_names *n = place->siblings;

	switch ((enum ab_name_when)rule->when) {
	case AB_WHEN_ALWAYS:
		return true;
	case AB_WHEN_NOT_SOURCE:
		return !is_source(place->form, place->form_len);
	case AB_WHEN_LONE:
		return is_lone(place);
	case AB_WHEN_NO_FAMILY:
		return !is_of_a_table(place);
	case AB_WHEN_NUMBER:
		return is_dump_number(place);
	case AB_WHEN_NO_TEMPLATE:
		return !is_template(place);
	case AB_WHEN_NO_FIXTURE:
		return !is_fixture(place);
	case AB_WHEN_ROTATED:
		return !is_fixture(place) && !is_program(place);
	case AB_WHEN_NO_MANUAL:
		return !is_document(place);
	case AB_WHEN_NO_SUM:
		return !is_sum(place);
	case AB_WHEN_DUMP:
		return is_dump(place);
	case AB_WHEN_STRAY:
		return is_stray(place);
	case AB_WHEN_NOT_TYPES:
		return !is_types(place);
	case AB_WHEN_HOME:
		return HAS_DIRECTORY(n, ".config", ".cache", ".local",
				     ".mozilla") ||
		       HAS_FILE(n, ".bashrc", ".profile", ".bash_history");
	case AB_WHEN_CAPITAL:
		return is_capital(place) ||
		       HAS_FILE(n, "Podfile", "Podfile.lock");
	case AB_WHEN_WORKDIR:
		return place->is_directory &&
		       (place->parent_len == 0 ||
			HAS_FILE(n, "package.json", "Gemfile", "artisan",
				 "composer.json", "manage.py", "config.ru",
				 "Procfile", "mix.exs"));
	case AB_WHEN_BUILT:
		return place->is_directory && is_beside_source(place);
	case AB_WHEN_BELOW:
		return false;
	}
	return false;
}

/* What a program writes into logs/, by its suffix. */
static bool is_log(const char *p, size_t n)
{
	static const char *const suffixes[] = {"err",	"jsonl", "ndjson",
					       "out",	"trace", "txt"};
	size_t len;
	const char *suffix = suffix_of(p, n, &len);

	return len == 0 || ONE_OF(suffix, len, suffixes) ||
	       (suffix[0] >= '0' && suffix[0] <= '9');
}

/* Is a directory above called so? */
static bool is_in_word(const ab_place *place, const char *word, size_t n)
{
	const char *p = place->path;
	const char *end = p + place->parent_len;

	while ((size_t)(end - p) >= n) {
		const char *slash = memchr(p, '/', (size_t)(end - p));
		size_t len = (size_t)((slash ? slash : end) - p);
		size_t i = 0;

		while (len == n && i < n && lower(p[i]) == word[i])
			i++;
		if (i == n)
			return true;
		if (!slash)
			return false;
		p = slash + 1;
	}
	return false;
}

/* Settings that are part of a program, since they lie in its package. */
static bool is_of_a_package(const ab_place *place)
{
	static const char *const suffixes[] = {"json", "toml", "xml", "yaml",
					       "yml"};
	size_t len;
	const char *suffix = suffix_of(place->form, place->form_len, &len);

	return len && ONE_OF(suffix, len, suffixes) &&
	       HAS_FILE(place->siblings, "__init__.py", "mod.rs", "BUILD",
			"BUILD.bazel", "doc.go", "package-info.java");
}

bool ab_place_below(const struct ab_name_rule *rule, const ab_place *place)
{
	size_t n = strlen(rule->pattern) - 1; /* without the slash */

	return !place->is_directory &&
	       is_in_word(place, rule->pattern, n) &&
	       !is_of_a_package(place) &&
	       !is_source(place->form, place->form_len) &&
	       !is_form(place, ".gitkeep") &&
	       !is_form(place, ".keep") &&
	       (rule->tier == 'S' || is_log(place->form, place->form_len));
}

/* What a directory is named, and what lies beside it; for the listing. */
enum {
	MARK_ENV = 1u << 8,
	MARK_TARGET = 2u << 8,
	MARK_BUILD = 3u << 8,
	MARK_DIST = 4u << 8,
	MARK_OUT = 5u << 8,
	MARK_BIN = 6u << 8,
	MARK_COVERAGE = 7u << 8,
	MARK_RUNS = 8u << 8,
	MARK_WORD = 0xffu << 8,
	BESIDE_PACKAGE = 1u << 16, /* package.json of a working tree */
	BESIDE_PYTHON = 1u << 17,
	BESIDE_GRADLE = 1u << 18
};

uint32_t ab_place_mark(const struct ab_name_rule *rule, const ab_place *place)
{
	static const struct {
		const char *name;
		uint32_t mark;
	} words[] = {{"venv/", MARK_ENV},   {"env/", MARK_ENV},
		     {"target/", MARK_TARGET}, {"build/", MARK_BUILD},
		     {"dist/", MARK_DIST},  {"out/", MARK_OUT},
		     {"bin/", MARK_BIN},    {"obj/", MARK_BIN},
		     {"coverage/", MARK_COVERAGE}, {"wandb/", MARK_RUNS}};
	const ab_filter_names *n = place->siblings;
	uint32_t mark = 0;

	if (rule->when != AB_WHEN_BUILT || !place->is_directory)
		return 0;
	for (size_t i = 0; i < AB_ARRAY_LEN(words); i++)
		if (strcmp(words[i].name, rule->pattern) == 0)
			mark = words[i].mark;
	/* A package that was published has none of these beside dist/. */
	if (HAS_FILE(n, "package.json") &&
	    (HAS_FILE(n, ".gitignore", ".git", "package-lock.json",
		      "pnpm-lock.yaml", "bun.lock", "bun.lockb") ||
	     has(n, ".git", true)))
		mark |= BESIDE_PACKAGE;
	if (HAS_FILE(n, "setup.py", "pyproject.toml", "setup.cfg"))
		mark |= BESIDE_PYTHON;
	if (HAS_FILE(n, "build.gradle", "build.gradle.kts", "settings.gradle",
		     "settings.gradle.kts"))
		mark |= BESIDE_GRADLE;
	return mark;
}

/* Somebody wrote this directory. */
static bool is_written(const ab_filter_names *e)
{
	return HAS_FILE(e, "__init__.py", "Makefile.am", "CMakeLists.txt",
			"meson.build", "BUILD", "BUILD.bazel", "Cargo.toml",
			"go.mod", "mod.rs", "webpack.config.js");
}

static bool is_build_tree(const ab_filter_names *e)
{
	return HAS_FILE(e, "CMakeCache.txt", "build.ninja", "config.status",
			".ninja_log", "CACHEDIR.TAG", "args.gn") ||
	       HAS_DIRECTORY(e, "CMakeFiles", "meson-info", "meson-private");
}

static bool is_web_bundle(const ab_filter_names *e)
{
	return HAS_FILE(e, "index.html", "bundle.js", "asset-manifest.json",
			"main.js", "app.js") ||
	       HAS_DIRECTORY(e, "assets", "static", "_next");
}

static bool is_built(uint32_t mark, const ab_filter_names *e)
{
	switch (mark & MARK_WORD) {
	case MARK_TARGET:
		return HAS_FILE(e, "CACHEDIR.TAG", ".rustc_info.json") ||
		       HAS_DIRECTORY(e, "maven-status", "maven-archiver");
	case MARK_BUILD:
		return is_build_tree(e) || (mark & BESIDE_GRADLE) ||
		       ((mark & BESIDE_PACKAGE) &&
			(is_web_bundle(e) ||
			 HAS_DIRECTORY(e, "Release", "server", "client"))) ||
		       ((mark & BESIDE_PYTHON) && HAS_DIRECTORY(e, "lib")) ||
		       HAS_DIRECTORY(e, "intermediates", "classes");
	case MARK_DIST:
		return (mark & (BESIDE_PACKAGE | BESIDE_PYTHON)) ||
		       is_build_tree(e) || HAS_FILE(e, "bundle.js");
	case MARK_OUT:
		return (mark & BESIDE_PACKAGE) || is_build_tree(e) ||
		       HAS_DIRECTORY(e, "_next", "production");
	case MARK_BIN:
		return HAS_FILE(e, "project.assets.json") ||
		       HAS_DIRECTORY(e, "Debug", "Release");
	default:
		return false;
	}
}

static bool is_environment(uint32_t mark, const ab_filter_names *e)
{
	return HAS_FILE(e, "pyvenv.cfg") || HAS_DIRECTORY(e, "conda-meta") ||
	       ((mark & MARK_WORD) == MARK_ENV && has(e, "bin", true) &&
		has(e, "lib", true) && has(e, "include", true));
}

static bool has_either(const ab_filter_names *e, const char *name)
{
	return has(e, name, true) || has(e, name, false);
}

/*
 * A directory of git's, whatever it is called. Parts of it may be links or
 * elsewhere; its config is here, with the tokens. One that has lost its HEAD is
 * none to git any more, but whoever writes HEAD again has the history.
 */
static const char *repository(const ab_filter_names *e)
{
	if (has(e, "HEAD", false) &&
	    (has(e, "commondir", false) ||
	     (has_either(e, "objects") &&
	      (has_either(e, "refs") || has(e, "packed-refs", false) ||
	       has(e, "reftable", true) || has(e, "config", false))) ||
	     (has_either(e, "refs") && has(e, "config", false))))
		return "bare-repository";
	if (has(e, "objects", true) && has(e, "refs", true) &&
	    (has(e, "config", false) || has(e, "packed-refs", false)))
		return "bare-repository";
	if (has(e, "format", false) && has(e, "db", true) &&
	    has(e, "hooks", true) && has(e, "locks", true))
		return "svn-repository";
	return NULL;
}

static bool is_hex(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

/* What git keeps of a history, taken out of the directory that tells of it. */
static bool is_object_store(const ab_filter_names *e)
{
	if (!has(e, "info", true) || !has(e, "pack", true) || !e->at)
		return false;
	for (size_t i = 0; i < AB_PLACE_NAMES_MAX; i++) {
		bool is_directory = false;
		const char *name = e->at(e->data, i, &is_directory);

		if (!name)
			return true;
		if (!is_directory ||
		    (strcmp(name, "info") != 0 && strcmp(name, "pack") != 0 &&
		     !(is_hex(name[0]) && is_hex(name[1]) && !name[2])))
			return false;
	}
	return false;
}

const char *ab_place_listing(uint32_t mark, const ab_filter_names *entries,
			     char *tier)
{
	const char *id = repository(entries);

	*tier = 'X';
	if (id)
		return id;
	if (is_object_store(entries))
		return "object-store";
	*tier = 'B';
	if (is_environment(mark, entries))
		return "virtual-environment";
	if ((mark & MARK_WORD) == MARK_COVERAGE &&
	    (HAS_FILE(entries, "lcov.info", "coverage-final.json",
		      "clover.xml", ".last_run.json", ".resultset.json",
		      "coverage-summary.json", "cobertura-coverage.xml") ||
	     has(entries, "lcov-report", true)))
		return "coverage-report";
	if ((mark & MARK_WORD) == MARK_RUNS &&
	    (HAS_FILE(entries, "debug.log", "debug-internal.log") ||
	     has(entries, "latest-run", true)))
		return "experiment-runs";
	if ((mark & MARK_WORD) && !is_written(entries) &&
	    is_built(mark, entries))
		return "build-output";
	return NULL;
}
