/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Files that are run, by a shell, an interpreter or as the command itself: what
 * the text put in is judged as the program, or the first line, reads it. Where
 * a file may hold several texts each is; where a pattern names it, each file of
 * the text that it may take. What nobody wrote here is not judged: the scripts
 * that stand on the disk are the worktree's.
 */
#include "config.h"

#include "guard/files.h"

#include <string.h>

#include "guard/command.h"

/* sh FILE ARGS: how many words there are from the file on, itself one. */
static uint32_t words_from(const struct ab_use *use,
			   const struct ab_word *path)
{
	for (uint32_t i = 0; i < use->operand_count; i++) {
		if (&use->words[use->operands[i]] == path)
			return use->count - use->operands[i];
	}
	return 0;
}

/* The words behind #!, at most two. */
static uint32_t first_line_words(struct ab_check *c,
				 const struct ab_word *content,
				 struct ab_word *out)
{
	const char *end = memchr(content->text, '\n', content->len);
	uint32_t stop = end ? (uint32_t)(end - content->text) : content->len;
	uint32_t i = 2, count = 0;

	while (count < 2) {
		while (i < stop && memchr(" \t", content->text[i], 2))
			i++;
		uint32_t from = i;

		while (i < stop && !memchr(" \t", content->text[i], 2))
			i++;
		if (i == from ||
		    !ab_word_slice(c, content, from, i - from, &out[count]))
			break;
		/* env -S splits, and so do we */
		if (!count || i - from != 2 ||
		    memcmp(content->text + from, "-S", 2) != 0)
			count++;
	}
	return count;
}

static const struct ab_role *program_role(struct ab_check *c,
					  const struct ab_program *p)
{
	const struct ab_role *code = NULL;

	for (uint32_t i = 0; i < p->role_count; i++) {
		const struct ab_role *role = &c->pack->roles[p->role + i];

		if (role->kind == AB_ROLE_STDIN_SHELL ||
		    role->kind == AB_ROLE_STDIN_CODE ||
		    role->kind == AB_ROLE_STDIN_TEXT)
			return role;
		if (role->kind == AB_ROLE_CODE && !code)
			code = role;
	}
	return code;
}

/* Files of settings that are no program of who reads them: node --run has
   package.json, and cargo's are not rust. What the table calls them; NULL: it
   is no such file. */
static const char *settings_name(const struct ab_word *path)
{
	static const struct {
		const char *end, *name;
	} files[] = {
		{ "package.json", "package.json" },
		{ "config.toml", "config.toml" },
		{ ".cargo/config", "config.toml" },
		{ ".yarnrc", ".yarnrc" },
		{ ".yarnrc.yml", ".yarnrc.yml" },
		{ "*.csproj", "build.xml" },
		{ "*.fsproj", "build.xml" },
		{ "*.targets", "build.xml" },
		{ "*.props", "build.xml" },
	};

	for (size_t i = 0; i < AB_ARRAY_LEN(files); i++) {
		bool is_end = *files[i].end == '*';
		const char *end = files[i].end + is_end;
		uint32_t n = (uint32_t)strlen(end);

		if (path->len >= n &&
		    !memcmp(path->text + path->len - n, end, n) &&
		    (is_end || path->len == n ||
		     path->text[path->len - n - 1] == '/'))
			return files[i].name;
	}
	return NULL;
}

/* How a program reads the file that it runs: as its stdin, or inline; or as
   what the table says of a file of that name, which stands there like a
   program: setup.py, package.json. */
static const struct ab_role *reading_role(struct ab_check *c,
					  const struct ab_program *p,
					  const struct ab_word *path)
{
	const char *settings = settings_name(path);
	const struct ab_role *role = settings ? NULL : program_role(c, p);
	uint32_t base = ab_name_base(path);

	if (settings)
		p = ab_pack_find(c->pack, settings, strlen(settings));
	else if (!role && !path->hole_count)
		p = ab_pack_find(c->pack, path->text + base,
				 path->len - base);
	return role || !p ? role : program_role(c, p);
}

/* As the program reads what it runs; role NULL: it is no program's. */
static void run_as(struct ab_check *c, const struct ab_use *use,
		   const struct ab_role *role, const struct ab_word *path,
		   const struct ab_word *content)
{
	if (!content->len || !role)
		return;
	if (role->kind == AB_ROLE_STDIN_SHELL)
		ab_check_script(c, content,
				!use->program->is_builtin || c->is_part, path,
				words_from(use, path), NULL);
	else if (role->kind == AB_ROLE_STDIN_TEXT)
		ab_check_text(c, role->text, content);
	else
		ab_run_code(c, use, role, content);
	if (role->kind == AB_ROLE_STDIN_TEXT && !strcmp(role->text, "escape"))
		ab_check_transfer(c, use, content);
}

/* `sh <(echo "$x")`: all of it is a value. */
static void run_value(struct ab_check *c, const struct ab_use *use,
		      const struct ab_role *role, const struct ab_word *path,
		      const struct ab_word *value)
{
	bool is_shell = role->kind == AB_ROLE_STDIN_SHELL;

	if (value->len || !value->hole_count) {
		run_as(c, use, role, path, value);
		return;
	}
	ab_check_flow(c, use, is_shell ? AB_SINK_SHELL : AB_SINK_CODE,
		      ab_word_taint(value), path);
	/* what is compiled does not run yet */
	if (!is_shell && role->kind != AB_ROLE_STDIN_TEXT &&
	    role->format != AB_FORMAT_SOURCE)
		ab_check_known(c, AB_KNOWN_OPAQUE, AB_V_ASK, value);
	if (is_shell)
		ab_check_script(c, value, !use->program->is_builtin, path,
				words_from(use, path), NULL);
}

/* <(cat x; echo ...): what is known of it, beside what nobody knows. */
static void run_stream_part(struct ab_check *c, const struct ab_use *use,
			    const struct ab_role *role,
			    const struct ab_word *path,
			    const struct ab_stream *from)
{
	const struct ab_word *part = ab_file_part(from->taint, from->most);
	bool was_part = c->is_part, was_perhaps = c->is_perhaps;

	if (!part || !part->len)
		return;
	c->is_part = c->is_perhaps = true;
	run_as(c, use, role, path, part);
	c->is_part = was_part;
	c->is_perhaps = was_perhaps;
}

/* <(...): its bytes are the program. */
static bool run_stream(struct ab_check *c, const struct ab_use *use,
		       const struct ab_word *path)
{
	static const struct ab_role shell = { .kind = AB_ROLE_STDIN_SHELL };
	const struct ab_role *role = program_role(c, use->program);

	for (uint32_t i = 0; i < path->hole_count; i++) {
		const struct ab_hole *h = &path->holes[i];

		if (h->kind != AB_HOLE_PROC || !h->origin)
			continue;
		uint32_t taint = h->origin->taint;

		if (h->origin->value) {
			run_value(c, use, role ? role : &shell, path,
				  h->origin->value);
			return true;
		}
		run_stream_part(c, use, role, path, h->origin);
		if (role && role->kind == AB_ROLE_STDIN_TEXT)
			ab_check_flow(c, use, AB_SINK_TEXT,
				      taint & AB_TAINT_REMOTE, path);
		else
			ab_check_flow(c, use, AB_SINK_SHELL,
				      taint ? taint : AB_TAINT_FILE, path);
		return true;
	}
	return false;
}

static void run_content(struct ab_check *c, const struct ab_use *use,
			const struct ab_word *path,
			const struct ab_word *content)
{
	const struct ab_role *own, *role;

	ab_check_flow(c, use, AB_SINK_RUN,
		      ab_word_taint(content) & ~(uint32_t)AB_TAINT_VAR, path);
	if (ab_file_is_pipe(content))
		ab_check_flow(c, use, AB_SINK_SHELL, AB_TAINT_FILE, path);
	own = program_role(c, use->program);
	role = reading_role(c, use->program, path);
	run_as(c, use, role, path, content);
	/* sh package.json: whatever its name, it is a program of that */
	if (AB_UNLIKELY(own && own != role) &&
	    (own->kind == AB_ROLE_STDIN_SHELL || words_from(use, path)))
		run_as(c, use, own, path, content);
}

/* As `sh <&$n` is: what was opened as that, or may have been. */
static void run_any_fd(struct ab_check *c, const struct ab_use *use,
		       const struct ab_word *path)
{
	const struct ab_word *have = c->run ? ab_fd_content(c, -1) : NULL;
	uint32_t taint = have ? ab_fd_taint(c, -1, have) : 0;

	if (have && have->len)
		run_content(c, use, path, have);
	else
		ab_check_flow(c, use, AB_SINK_SHELL,
			      taint ? taint : AB_TAINT_FILE, path);
}

/* A directory that stands in a worktree, not on top of an archive. */
static bool is_usual_dir(const char *path, uint32_t len)
{
	static const char *const names[] = {
		"api",	  "app",     "backend",	     "bin",    "build",
		"client", "docs",    "examples",     "frontend", "lib",
		"node_modules", "packages", "script", "scripts", "server",
		"src",	  "test",    "tests",	     "tools",  "venv",
		"web",
	};
	const char *slash = memchr(path, '/', len);
	uint32_t n = slash ? (uint32_t)(slash - path) : 0;

	if (n && *path == '.')
		return true;
	for (size_t i = 0; n && i < AB_ARRAY_LEN(names); i++) {
		if (strlen(names[i]) == n && !memcmp(path, names[i], n))
			return true;
	}
	return false;
}

/* What a tool put into the worktree so that it is run from there. */
static bool is_usual_program(const char *path, uint32_t len)
{
	static const char *const dirs[] = { "venv/bin/", ".venv/bin/",
					    "env/bin/", ".env/bin/",
					    "node_modules/.bin/" };

	for (size_t i = 0; i < AB_ARRAY_LEN(dirs); i++) {
		uint32_t n = (uint32_t)strlen(dirs[i]);

		if (len > n && !memcmp(path, dirs[i], n))
			return true;
	}
	return (len == 7 && !memcmp(path, "gradlew", 7)) ||
	       (len == 4 && !memcmp(path, "mvnw", 4));
}

/*
 * An archive was taken apart in the worktree's own directory: nobody knows
 * which names it brought beside those that stood there. What a tool reads by
 * itself, and the programs of an interpreter, are the worktree's; a script
 * for a shell, and what lies in a directory that the archive may have made,
 * are of the archive. use NULL: the file is the command.
 */
static bool is_of_worktree(struct ab_check *c, const struct ab_use *use,
			   const struct ab_word *path)
{
	const struct ab_role *role;
	const char *variable;
	struct ab_tree tree;
	uint32_t len;

	if (AB_LIKELY(!c->trees) || ab_file_fd(path) >= 0)
		return false;
	variable = ab_tree_file(c, path, &len);
	if (!variable || !ab_tree_find(c, variable, len, &tree) ||
	    !tree.is_root)
		return false;
	if (is_usual_program(tree.rest, tree.rest_len))
		return true;
	role = use ? program_role(c, use->program) : NULL;
	return use && (!role || role->kind != AB_ROLE_STDIN_SHELL) &&
	       (!memchr(tree.rest, '/', tree.rest_len) ||
		is_usual_dir(tree.rest, tree.rest_len));
}

/* Where a `cd` that failed left the shell; NULL: nothing there can be it. */
static const struct ab_word *left_dir(struct ab_check *c,
				      const struct ab_word *path)
{
	const struct ab_word *was;
	bool is_exported;

	if (!c->has_files || path->hole_count || !path->len ||
	    *path->text == '/')
		return NULL;
	was = ab_shell_get(c->run, AB_CWD_BEFORE, sizeof(AB_CWD_BEFORE) - 1,
			   &is_exported);
	return was && was->len && !was->hole_count ? was : NULL;
}

/* The file of that name that the text wrote there. */
static const struct ab_word *left_text(struct ab_check *c,
				       const struct ab_word *path)
{
	const struct ab_word *cwd = c->cwd, *content = NULL;
	const struct ab_word *was = left_dir(c, path);

	if (was) {
		c->cwd = was;
		content = ab_file_kept(c, path);
		c->cwd = cwd;
	}
	return content && content->len ? content : NULL;
}

/* What the file holds that is run. */
static const struct ab_word *run_text(struct ab_check *c,
				      const struct ab_use *use,
				      const struct ab_word *path)
{
	const struct ab_word *content = is_of_worktree(c, use, path)
						? ab_file_kept(c, path)
						: ab_file_content(c, path);

	return content || !c->run ? content : left_text(c, path);
}

bool ab_file_pattern(struct ab_check *c, const struct ab_word *path,
		     struct ab_word *all)
{
	struct ab_word slash = { .text = "/", .len = 1 }, name, dir;
	uint32_t from = 0;

	*all = *path;
	if (path->len > 2 && !memcmp(path->text, "./", 2))
		from = 2;
	return *path->text == '/' ||
	       (c->cwd && !c->cwd->hole_count &&
		ab_word_slice(c, path, from, path->len, &name) &&
		ab_file_join(c, c->cwd, &slash, &dir) &&
		ab_file_join(c, &dir, &name, all));
}

bool ab_file_taken(struct ab_check *c, const struct ab_word *all, uint32_t *i,
		   struct ab_word *name)
{
	while (*i < c->written_count) {
		const char *text = c->written[(*i)++] +
				   sizeof(AB_FILE_PREFIX) - 1;

		*name = (struct ab_word){ .text = text, .span = all->span,
					  .len = (uint32_t)strlen(text) };
		if (ab_pattern_may_take(all->text, all->len, text, name->len,
					c->has_fold))
			return true;
	}
	return false;
}

/* sh i*: each file that the text wrote and the pattern may take. */
static void run_taken(struct ab_check *c, const struct ab_use *use,
		      const struct ab_word *path)
{
	struct ab_word all, name;
	uint32_t i = 0;

	if (!ab_file_pattern(c, path, &all))
		return;
	while (ab_file_taken(c, &all, &i, &name))
		ab_file_run(c, use, &name);
}

/* Its name is that of a script, or says nothing. */
static bool may_be_script(const struct ab_word *path)
{
	static const char *const ends[] = { "sh",  "bash", "zsh", "ksh", "py",
					    "pl",  "rb",   "js",  "mjs", "php" };
	const char *base = path->text + ab_name_base(path);
	uint32_t len = path->len - ab_name_base(path);
	const char *dot = memrchr(base, '.', len);
	uint32_t n = dot ? (uint32_t)(base + len - dot - 1) : 0;

	for (size_t i = 0; dot && i < AB_ARRAY_LEN(ends); i++) {
		if (strlen(ends[i]) == n && !memcmp(dot + 1, ends[i], n))
			return true;
	}
	return !dot;
}

/* The path is what a command printed and nothing else: `ls | xargs sh`. */
static bool is_printed(const struct ab_word *path)
{
	return !path->len && path->hole_count == 1 && path->holes->origin;
}

bool ab_file_next(struct ab_check *c, uint32_t *i, struct ab_word *path)
{
	while (*i < c->written_count) {
		const char *name = c->written[(*i)++] +
				   sizeof(AB_FILE_PREFIX) - 1;

		*path = (struct ab_word){ .text = name, .span = path->span,
					  .len = (uint32_t)strlen(name) };
		if (may_be_script(path))
			return true;
	}
	return false;
}

/* go run, whose program runs go build: those files were read. */
static bool is_inside(const struct ab_check *c, const struct ab_program *p)
{
	size_t n = strcspn(p->name, "/");

	if (c->is_reading_named)
		return true;
	for (const struct ab_chain *k = c->chain; k; k = k->up) {
		if (strcspn(k->name, "/") == n && !memcmp(k->name, p->name, n))
			return true;
	}
	return false;
}

void ab_file_named(struct ab_check *c, const struct ab_use *use,
		   const struct ab_role *role, const char *name,
		   ab_role_fn *fn)
{
	const char *star = strchr(name, '*');
	uint32_t from = (uint32_t)(star - name);
	uint32_t behind = (uint32_t)strlen(star + 1);

	if (is_inside(c, use->program))
		return;
	c->is_reading_named = true;
	for (uint32_t i = 0; i < c->written_count; i++) {
		const char *path = c->written[i] + sizeof(AB_FILE_PREFIX) - 1;
		struct ab_word w = { .text = path, .span = use->words[0].span,
				     .len = (uint32_t)strlen(path) };
		const char *base = path + ab_name_base(&w);
		size_t n = strlen(base);

		if (n >= from + behind && !memcmp(base, name, from) &&
		    !memcmp(base + n - behind, star + 1, behind))
			fn(c, use, role, &w);
	}
	/* one of the files that found no room may be it */
	if (AB_UNLIKELY(c->lost_modules))
		ab_check_known(c, AB_KNOWN_LIMIT, AB_V_ASK, &use->words[0]);
	c->is_reading_named = false;
}

/* Where the end of the name begins that says of what kind it is; or len. */
static uint32_t without_end(const char *s, uint32_t len)
{
	static const char *const ends[] = { ".py", ".js", ".mjs", ".cjs",
					    ".ts", ".rb", ".pm",  ".pl",
					    ".lua", ".php", ".so", ".node",
					    ".awk" };

	for (size_t i = 0; i < AB_ARRAY_LEN(ends); i++) {
		uint32_t n = (uint32_t)strlen(ends[i]);

		if (len > n && !memcmp(s + len - n, ends[i], n))
			return len - n;
	}
	return len;
}

/* .../NAME */
static bool has_end(const char *s, uint32_t len, const char *name, uint32_t n)
{
	return len > n && s[len - n - 1] == '/' &&
	       !memcmp(s + len - n, name, n);
}

/* The file of a directory that is the module. */
static uint32_t without_index(const char *s, uint32_t len)
{
	static const char *const names[] = { "/__init__", "/__main__",
					     "/index", "/init" };

	for (size_t i = 0; i < AB_ARRAY_LEN(names); i++) {
		uint32_t n = (uint32_t)strlen(names[i]);

		if (len > n && !memcmp(s + len - n, names[i], n))
			return len - n;
	}
	return 0;
}

uint64_t ab_file_module_bit(const char *path, uint32_t len)
{
	uint32_t end = without_end(path, len), dir = without_index(path, end);
	uint32_t n = dir ? dir : end;
	const char *slash = memrchr(path, '/', n);
	uint32_t from = slash ? (uint32_t)(slash - path) + 1 : 0;

	return UINT64_C(1) << (ab_pack_hash(path + from, n - from) & 63);
}

bool ab_file_next_module(struct ab_check *c, const struct ab_word *name,
			 uint32_t *i, struct ab_word *path)
{
	const char *s = name->text;
	uint32_t n = without_end(s, name->len);

	while (n > 1 && (*s == '.' || *s == '/')) {
		s++;
		n--;
	}
	while (n && !name->hole_count && *i < c->written_count) {
		const char *file = c->written[(*i)++] +
				   sizeof(AB_FILE_PREFIX) - 1;
		uint32_t all = (uint32_t)strlen(file);
		uint32_t len = without_end(file, all);

		*path = (struct ab_word){ .text = file, .len = all,
					  .span = name->span };
		if (has_end(file, len, s, n) ||
		    has_end(file, without_index(file, len), s, n))
			return true;
	}
	/* one of the files that found no room may be it */
	if (n && !name->hole_count && *i == c->written_count &&
	    (c->lost_modules & ab_file_module_bit(s, n)))
		ab_check_known(c, AB_KNOWN_LIMIT, AB_V_ASK, name);
	return false;
}

/* It may be each of those. */
static void run_printed(struct ab_check *c, const struct ab_use *use,
			const struct ab_word *path)
{
	struct ab_word name = { .span = path->span };
	uint32_t i = 0;

	while (ab_file_next(c, &i, &name))
		ab_file_run(c, use, &name);
}

bool ab_file_is_pattern(const struct ab_word *path)
{
	for (uint32_t i = 0; i < path->hole_count; i++) {
		if (path->holes[i].kind != AB_HOLE_PATTERN)
			return false;
	}
	return path->hole_count && path->len;
}

/* What it holds, or each of those that it may hold. */
static void run_each(struct ab_check *c, const struct ab_use *use,
		     const struct ab_word *path, const struct ab_word *content)
{
	const struct ab_word *one;
	bool was = c->is_perhaps;

	c->is_perhaps |= !content->len;
	run_content(c, use, path, content);
	for (uint32_t i = 0;
	     !content->len && (one = ab_file_either(c, path, i)); i++) {
		if (one->len)
			run_content(c, use, path, one);
	}
	c->is_perhaps = was;
}

/* The one where a `cd` that failed left the shell, of which more is known than
   one text. */
static void run_left(struct ab_check *c, const struct ab_use *use,
		     const struct ab_word *path)
{
	const struct ab_word *cwd = c->cwd, *content;
	const struct ab_word *was = c->run ? left_dir(c, path) : NULL;

	if (!was)
		return;
	c->cwd = was;
	content = ab_file_kept(c, path);
	if (content && ab_file_is_either(c, path))
		run_each(c, use, path, content);
	c->cwd = cwd;
}

/* What editors put in. */
static void run_edited(struct ab_check *c, const struct ab_use *use,
		       const struct ab_word *path)
{
	bool was_part = c->is_part, was_perhaps = c->is_perhaps;
	const struct ab_word *one;
	uint32_t i = 0;

	c->is_part = c->is_perhaps = true;
	while ((one = ab_edit_next(c, path, &i)))
		run_content(c, use, path, one);
	c->is_part = was_part;
	c->is_perhaps = was_perhaps;
}

bool ab_is_statements(const struct ab_role *role)
{
	/* a manifest says what is to be and runs nothing here; of a transfer
	   or a mail only the escapes to a shell do, and what goes over a wire
	   is mostly no statement */
	return role->kind == AB_ROLE_STDIN_TEXT &&
	       strcmp(role->text, "k8s") != 0 &&
	       strcmp(role->text, "escape") != 0 &&
	       strcmp(role->text, "wire") != 0;
}

/* What <(...) prints, where that is known. */
static const struct ab_word *stream_text(const struct ab_word *path)
{
	for (uint32_t i = 0; i < path->hole_count; i++) {
		if (path->holes[i].kind == AB_HOLE_PROC &&
		    path->holes[i].origin)
			return path->holes[i].origin->value;
	}
	return NULL;
}

/* `psql -f FILE`, `mongosh db FILE.js`: the same statements as on stdin, which
   nobody knows but where the text put them in. Other operands are databases. */
static void judge_statements(struct ab_check *c, const struct ab_use *use,
			     const struct ab_word *path)
{
	const struct ab_role *role = program_role(c, use->program);
	const struct ab_word *text;
	uint32_t taint = 0;

	if (AB_LIKELY(!role || !ab_is_statements(role)) ||
	    (words_from(use, path) &&
	     (path->len < 3 || memcmp(path->text + path->len - 3, ".js", 3))))
		return;
	text = stream_text(path);
	if (!text)
		text = ab_file_content(c, path);
	if (!text || !text->len || ab_file_is_loose(c, path))
		taint = AB_TAINT_FILE;
	/* what came off the network is told where it is run */
	if (text && ab_text_opens(text, role->text))
		taint |= ab_word_taint(text) & ~(uint32_t)AB_TAINT_REMOTE;
	ab_check_flow(c, use, AB_SINK_TEXT, taint, path);
}

/* `wget "$U"; sh "$F"`: "$F", "$D/$F" is any file, and so that one; but for
   those that something listed. */
static bool is_any_name(const struct ab_word *path)
{
	const struct ab_hole *h;

	if (!path->hole_count)
		return false;
	h = &path->holes[path->hole_count - 1];
	return h->at == path->len &&
	       !(h->origin && h->origin->note) &&
	       (!path->len || path->text[path->len - 1] == '/') &&
	       (h->kind == AB_HOLE_BYTES || h->kind == AB_HOLE_FIELDS);
}

void ab_file_run(struct ab_check *c, const struct ab_use *use,
		 const struct ab_word *path)
{
	const struct ab_word *content;

	if (AB_UNLIKELY(c->has_edits))
		run_edited(c, use, path);

	if (AB_UNLIKELY(c->written_count) && ab_file_is_pattern(path))
		run_taken(c, use, path);
	else if (AB_UNLIKELY(c->written_count) && is_printed(path))
		run_printed(c, use, path);
	judge_statements(c, use, path);
	if (run_stream(c, use, path))
		return;
	if (AB_UNLIKELY(ab_file_is_any_fd(path)))
		run_any_fd(c, use, path);
	content = run_text(c, use, path);
	if (content)
		run_each(c, use, path, content);
	else if (AB_UNLIKELY(c->has_files))
		run_left(c, use, path);
	if (AB_UNLIKELY(c->has_foreign) && !content && is_any_name(path))
		ab_check_known(c, AB_KNOWN_DYNAMIC, AB_V_ASK, path);
}

void ab_file_run_module(struct ab_check *c, const struct ab_use *use,
			const struct ab_word *name)
{
	struct ab_word path, module;
	uint32_t i = 0;

	/* main:app */
	if (ab_file_is_written(c, name) ||
	    !ab_word_slice(c, name, 0,
			   (uint32_t)ab_seek(name->text, name->len, ':'),
			   &module))
		return;
	while (ab_file_next_module(c, &module, &i, &path))
		ab_file_run(c, use, &path);
}

/* The file is the command: a script of a shell, or of what its first line
   names, or a copy of a program. */
static bool run_command(struct ab_check *c, const struct ab_word *content,
			const struct ab_word *words, uint32_t count,
			uint32_t in_taint, const struct ab_word *in_text,
			bool has_stdin)
{
	uint32_t skip = sizeof(AB_FILE_COPY) - 1, n;
	struct ab_word *all;

	ab_check_flow(c, c->use, AB_SINK_RUN,
		      ab_word_taint(content) & ~(uint32_t)AB_TAINT_VAR, words);
	if (ab_file_is_pipe(content))
		ab_check_flow(c, c->use, AB_SINK_SHELL, AB_TAINT_FILE, words);
	for (uint32_t i = 0; !content->len; i++) {
		const struct ab_word *one = ab_file_either(c, &words[0], i);

		if (!one)
			return false;
		if (one->len)
			ab_check_script(c, one, true, words, count, NULL);
	}
	if (content->len < 3 && !content->hole_count)
		return false;
	all = ab_check_alloc(c, (count + 2) * sizeof(*all));
	if (!all)
		return false;
	memcpy(all + 2, words, count * sizeof(*all));
	if (ab_file_is_copy(content)) {
		if (!ab_word_slice(c, content, skip, UINT32_MAX, &all[2]))
			return false;
		all[2].span = words[0].span;
		ab_check_words(c, all + 2, count, in_taint, in_text,
			       has_stdin);
		return true;
	}
	if (content->len < 3 || memcmp(content->text, "#!", 2) != 0) {
		ab_check_script(c, content, true, words, count, NULL);
		return false;
	}
	n = first_line_words(c, content, all);
	if (!n)
		return false;
	memmove(all + n, all + 2, count * sizeof(*all));
	ab_check_words(c, all, n + count, in_taint, in_text, has_stdin);
	return true;
}

/* The same of the command itself. */
static void run_edited_command(struct ab_check *c, const struct ab_word *words,
			       uint32_t count)
{
	bool was_part = c->is_part, was_perhaps = c->is_perhaps;
	const struct ab_word *one;
	uint32_t i = 0;

	c->is_part = c->is_perhaps = true;
	while ((one = ab_edit_next(c, words, &i)))
		run_command(c, one, words, count, 0, NULL, false);
	c->is_part = was_part;
	c->is_perhaps = was_perhaps;
}

bool ab_file_command(struct ab_check *c, const struct ab_word *words,
		     uint32_t count, uint32_t in_taint,
		     const struct ab_word *in_text, bool has_stdin)
{
	const struct ab_word *content;
	bool was = c->is_perhaps, is_judged;

	if (AB_UNLIKELY(c->has_edits))
		run_edited_command(c, words, count);
	content = run_text(c, NULL, &words[0]);
	if (!content)
		return false;
	c->is_perhaps |= !content->len;
	is_judged = run_command(c, content, words, count, in_taint, in_text,
				has_stdin);
	c->is_perhaps = was;
	return is_judged;
}
