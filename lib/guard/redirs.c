/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The redirections of a command or of a compound: what comes in by them, what
 * they do to a file's path, and what is in the file behind them. Which command
 * reads it is not judged here. See shell.h.
 */
#include "config.h"

#include "guard/command.h"

#include <string.h>

#include "base/alloc.h"
#include "guard/files.h"
#include "guard/found.h"
#include "guard/git.h"
#include "guard/prints.h"

/* --- what comes in, and the paths --------------------------------------- */

static bool is_net_device(struct ab_check *c, const struct ab_word *w)
{
	return w->len > 9 && !memcmp(w->text, "/dev/", 5) &&
	       (ab_path_classes(c, w) & c->pack->net_device);
}

static void open_fd(struct ab_check *c, const struct ab_shell_redir *r,
		    uint32_t taint, const struct ab_word *text)
{
	if ((taint || text) && (r->fd < 0 || r->fd >= 3))
		ab_fd_save(c, r->fd, taint, text);
}

static bool is_device(const struct ab_word *w)
{
	return w->len > 5 && !memcmp(w->text, "/dev/", 5);
}

static void read_redir(struct ab_check *c, const struct ab_shell_redir *r,
		       struct ab_input *in)
{
	const struct ab_word *w = &r->target;
	uint32_t before = c->out_taint;

	c->out_taint = 0;
	ab_check_path(c, c->use, AB_ROLE_SHOW, w);
	uint32_t taint = c->out_taint | ab_file_taint(c, w) |
			 ab_status_taint(c, w);

	c->out_taint = before | (taint & AB_TAINT_CRED);
	if (is_net_device(c, w))
		taint |= AB_TAINT_REMOTE;
	const struct ab_word *text = ab_file_content(c, w);

	const struct ab_stream *list = ab_list_of(c, w);
	bool has_proc = false;

	ab_check_found_path(c, AB_ROLE_SHOW, w);
	for (uint32_t i = 0; i < w->hole_count; i++) {
		if (w->holes[i].kind != AB_HOLE_PROC)
			continue;
		has_proc = true;
		/* < <(find . -name x) */
		if (w->hole_count == 1 && ab_names_noted(w->holes[i].origin))
			list = w->holes[i].origin;
		if (w->holes[i].origin)
			text = w->holes[i].origin->value;
	}
	if (has_proc)
		taint |= ab_word_taint(w);
	if (text && !text->len) {
		text = NULL;
		if (ab_file_is_either(c, w))
			taint |= AB_TAINT_FILE; /* not just any file */
	}
	struct ab_word names;

	if (r->fd != 0) {
		if (AB_UNLIKELY(list && !text) && ab_list_word(c, list, &names))
			text = &names;
		open_fd(c, r, taint, text);
		return;
	}
	/* or it is a link to what came in */
	if (AB_UNLIKELY(c->has_stdin_link) && in->has) {
		taint |= in->taint ? in->taint : AB_TAINT_FILE;
		text = NULL;
	}
	*in = (struct ab_input){ .taint = taint, .text = text, .has = true };
	/* what came off the network is one, too */
	c->in_is_file =
		!(taint & ~(uint32_t)(AB_TAINT_ENDLESS | AB_TAINT_REMOTE));
	c->in_is_loose = text && ab_file_is_loose(c, w);
	c->in_is_device = is_device(w);
	c->in_list = list;
	in->taint |= list ? list->taint & AB_TAINT_TREE : 0;
}

/* <&5, <&5-, <&$n: what was opened as that, or may have been. */
static void dup_in(struct ab_check *c, const struct ab_shell_redir *r,
		   struct ab_input *in)
{
	const struct ab_word *w = &r->target;
	uint32_t n = w->len && w->text[w->len - 1] == '-' ? w->len - 1 : w->len;
	int64_t fd = 0;

	for (uint32_t i = 0; i < n && fd <= INT32_MAX; i++) {
		if (w->text[i] < '0' || w->text[i] > '9')
			return;
		fd = fd * 10 + (w->text[i] - '0');
	}
	if (w->hole_count) {
		fd = -1;
	} else if (!n || fd < 3) {
		/* >&/dev/tcp/x/1 0>&1: what comes back */
		if (n && fd && (in->taint & AB_TAINT_REMOTE))
			in->text = NULL;
		return;
	}
	const struct ab_word *have = ab_fd_content(c, fd);

	in->has = true;
	in->text = have && have->len ? have : NULL;
	in->taint = have ? ab_fd_taint(c, fd, have) : AB_TAINT_FILE;
}

static bool is_append(const struct ab_shell_redir *r)
{
	return r->kind == AB_REDIR_APPEND || r->kind == AB_REDIR_APPEND_BOTH;
}

/* Into a file, and nowhere else. */
static bool writes_stdout(const struct ab_shell_redir *r)
{
	switch (r->kind) {
	case AB_REDIR_WRITE:
	case AB_REDIR_CLOBBER:
	case AB_REDIR_APPEND:
		return r->fd == 1 || r->fd < 0;
	case AB_REDIR_WRITE_BOTH:
	case AB_REDIR_APPEND_BOTH:
		return true;
	default:
		return false;
	}
}

bool ab_has_stdin(const struct ab_shell_command *m)
{
	for (uint32_t i = 0; i < m->redir_count; i++) {
		if (m->redirs[i].fd == 0)
			return false;
	}
	return true;
}

bool ab_has_stdout(const struct ab_shell_command *m)
{
	for (uint32_t i = 0; i < m->redir_count; i++) {
		const struct ab_shell_redir *r = &m->redirs[i];

		if (writes_stdout(r) ||
		    (r->kind == AB_REDIR_DUP_OUT && r->fd != 2))
			return false;
	}
	return true;
}

const struct ab_word *ab_stdout_file(const struct ab_shell_command *m)
{
	for (uint32_t i = m->redir_count; i-- > 0;) {
		const struct ab_shell_redir *r = &m->redirs[i];

		if (writes_stdout(r))
			return is_append(r) ? NULL : &r->target;
	}
	return NULL;
}

#define AB_READERS                                                      \
	(AB_BUILTIN(READ) | AB_BUILTIN(MAPFILE) | AB_BUILTIN(READARRAY) |  \
	 AB_BUILTIN(COMMAND) | AB_BUILTIN(BUILTIN))

bool ab_is_file_input(const struct ab_shell_redir *r, uint32_t count)
{
	return count == 1 && r->kind == AB_REDIR_READ && r->fd == 0 &&
	       ab_file_fd(&r->target) < 0 && !ab_is_stdin_name(&r->target);
}

/* The same of names in it. */
static void tell_list(struct ab_check *c, const struct ab_shell_command *m)
{
	struct ab_word *names = ab_check_alloc(c, sizeof(*names));

	if ((UINT64_C(1) << m->builtin) & AB_READERS) {
		if (names && ab_list_word(c, c->in_list, names))
			ab_shell_tell_input(c->run, names);
	} else if (!m->argc && m->place.out) {
		c->out_taint |= c->in_list->taint & AB_TAINT_TREE;
		m->place.out->note = c->in_list->note;
	}
}

void ab_tell_input(struct ab_check *c, const struct ab_shell_command *m,
		   const struct ab_input *in)
{
	const struct ab_stream *out = m->place.out;

	if (!ab_is_file_input(m->redirs, m->redir_count))
		return;
	if (AB_UNLIKELY(c->in_list)) {
		tell_list(c, m);
		return;
	}
	if (!in->text || !c->is_one_pass ||
	    ab_file_is_loose(c, &m->redirs[0].target))
		return;
	if ((UINT64_C(1) << m->builtin) & AB_READERS)
		ab_shell_tell_input(c->run, in->text);
	else if (!m->argc && !m->assign_count && out &&
		 out->kind == AB_STREAM_COMMAND &&
		 m->span.begin <= out->span.begin + 3 &&
		 m->span.end + 2 >= out->span.end)
		ab_shell_tell(c->run, in->text);
}

/* done < <(git rev-list A..B), done < <(find . -name x): what is read in it. */
void ab_pass_note(const struct ab_shell_scope *s)
{
	const struct ab_shell_redir *r = s->redirs;
	const struct ab_stream *from = r->target.hole_count ?
					       r->target.holes->origin :
					       NULL;

	if (s->redir_count != 1 || r->fd != 0 || !from ||
	    from->kind != AB_STREAM_PROC_IN || !ab_git_is_all(from))
		return;
	s->in->note = from->note;
	if (ab_names_are_all(ab_names_noted(from), from))
		s->in->taint |= AB_TAINT_FOUND;
}

static void write_redir(struct ab_check *c, const struct ab_shell_redir *r,
			struct ab_input *in, bool is_empty)
{
	ab_check_path(c, c->use, AB_ROLE_WRITE, &r->target);
	ab_check_found_path(c, AB_ROLE_WRITE, &r->target);
	if (is_empty && !is_append(r)) {
		ab_check_path(c, c->use, AB_ROLE_TRUNCATE, &r->target);
		ab_check_found_path(c, AB_ROLE_TRUNCATE, &r->target);
	}
	/* what goes there is not followed */
	if (!writes_stdout(r) && !is_device(&r->target))
		ab_file_pipe(c, &r->target);
	if (!is_net_device(c, &r->target))
		return;
	/* both ways: what comes back is read by whoever shares it */
	in->has = true;
	in->taint |= AB_TAINT_REMOTE;
	open_fd(c, r, AB_TAINT_REMOTE, NULL);
}

/* >&3, which is a connection: exec 3<>/dev/tcp/x/1 */
static bool is_connection(struct ab_check *c, const struct ab_shell_redir *r)
{
	const struct ab_word *w = &r->target;
	const struct ab_word *have;
	int64_t fd;

	if ((r->fd != 1 && r->fd >= 0) || w->hole_count || w->len != 1 ||
	    *w->text < '3' || *w->text > '9')
		return false;
	fd = *w->text - '0';
	have = ab_fd_content(c, fd);
	return have && (ab_fd_taint(c, fd, have) & AB_TAINT_REMOTE);
}

/* Where the bytes go that are written to such a file. */
static uint32_t sent_by(uint32_t taint, const struct ab_word *w)
{
	struct ab_word host = { .text = w->text, .len = w->len };

	/* all of the host stands before what is not known */
	if (w->hole_count)
		host.len = w->holes->at;
	if (host.len <= 9 || (w->hole_count && !memchr(w->text + 9, '/',
						       host.len - 9)))
		return taint;
	host.text += 9; /* of /dev/tcp/ and /dev/udp/ */
	host.len -= 9;
	return ab_value_is_localhost(&host)
		       ? taint & ~(uint32_t)AB_TAINT_FILE
		       : taint;
}

void ab_check_redirs(struct ab_check *c, const struct ab_shell_redir *all,
		     uint32_t count, bool is_empty, struct ab_input *in,
		     const struct ab_shell_redir **out)
{
	*out = NULL;
	for (uint32_t i = 0; i < count; i++) {
		const struct ab_shell_redir *r = &all[i];

		c->target = &r->target;
		c->target_classes = 0;
		if (AB_UNLIKELY(c->chain && c->chain->is_stdin))
			ab_note_script_copy(c, r);
		switch (r->kind) {
		case AB_REDIR_READ:
			read_redir(c, r, in);
			break;
		case AB_REDIR_READ_WRITE:
			write_redir(c, r, in, false);
			break;
		case AB_REDIR_WRITE:
		case AB_REDIR_CLOBBER:
		case AB_REDIR_APPEND:
		case AB_REDIR_WRITE_BOTH:
		case AB_REDIR_APPEND_BOTH:
			write_redir(c, r, in, is_empty);
			if (writes_stdout(r))
				*out = r;
			break;
		case AB_REDIR_HERE_DOC:
		case AB_REDIR_HERE_STRING:
			if (r->fd != 0) {
				open_fd(c, r, 0, &r->target);
				break;
			}
			in->has = true;
			in->text = &r->target;
			in->taint = ab_word_taint(&r->target);
			break;
		case AB_REDIR_DUP_IN:
			dup_in(c, r, in);
			break;
		case AB_REDIR_DUP_OUT:
			if (r->fd == 0)
				dup_in(c, r, in);
			else if (r->target.len > 1)
				write_redir(c, r, in, false);
			else if (is_connection(c, r))
				*out = r;
			break;
		}
	}
	c->target = NULL;
}

/* --- what the file holds then ------------------------------------------- */

static bool prints_nothing(const struct ab_shell_command *m)
{
	return !m->argc || m->builtin == AB_BUILTIN_COLON ||
	       m->builtin == AB_BUILTIN_TRUE;
}

/* What the command writes into a file, when that is known. */
static const struct ab_word *known_output(struct ab_check *c,
					  const struct ab_shell_command *m,
					  const struct ab_input *in,
					  struct ab_word *room)
{
	if (m->output)
		return m->output;
	if (m->argc && ab_shell_output(c->run, m->argv, m->argc, room))
		return room;
	if (ab_prints(c, m->argv, m->argc, in->text, room) ||
	    ab_prints_of(c, m->argv, m->argc, in->text, room))
		return room;
	return NULL;
}

/* Its words say what it prints, in a way that nobody follows here. */
static bool prints_words(const struct ab_shell_command *m)
{
	if (m->builtin != AB_BUILTIN_ECHO && m->builtin != AB_BUILTIN_PRINTF)
		return false;
	for (uint32_t i = 0; i < m->argc; i++) {
		if (m->argv[i].hole_count)
			return false;
	}
	return true;
}

/* `printf %s "$x" >f`: all of it is a value, and no text of one of several. It
   is told from those by the line's end that it may lack. */
static const struct ab_word *as_line(struct ab_check *c,
				     const struct ab_word *w)
{
	struct ab_word *line = ab_check_alloc(c, sizeof(*line));

	if (!line)
		return NULL;
	*line = *w;
	line->text = "\n";
	line->len = 1;
	return line;
}

/* < <(...) */
static const struct ab_stream *redirected_in(const struct ab_shell_command *m)
{
	for (uint32_t i = m->redir_count; i-- > 0;) {
		const struct ab_shell_redir *r = &m->redirs[i];

		if (r->fd == 0)
			return r->kind == AB_REDIR_READ &&
					       r->target.hole_count == 1 &&
					       r->target.holes->kind ==
						       AB_HOLE_PROC ?
				       r->target.holes->origin : NULL;
	}
	return NULL;
}

const struct ab_word *ab_part_in(const struct ab_shell_command *m)
{
	const struct ab_stream *in = m->place.in;

	if (AB_UNLIKELY(m->redir_count != 0) && !ab_has_stdin(m))
		in = redirected_in(m);
	if (AB_LIKELY(!in || in->value || !in->most || !in->most->len))
		return NULL;
	return ab_file_part(in->taint, in->most);
}

static void save_to(struct ab_check *c, const struct ab_shell_redir *out,
		    uint32_t taint, const struct ab_word *text)
{
	if (is_append(out))
		ab_file_append(c, &out->target, taint, text);
	else
		ab_file_save(c, &out->target, taint, text, false);
}

void ab_save_command(struct ab_check *c, const struct ab_shell_command *m,
		     const struct ab_shell_redir *out,
		     const struct ab_input *in)
{
	struct ab_stream *process = ab_redir_process(out);
	struct ab_word room;
	const struct ab_word *known, *part;
	bool is_value;

	if (AB_UNLIKELY(process != NULL))
		process->taint |= c->out_taint & ~(uint32_t)AB_STREAM_GOOD;
	if (out->kind == AB_REDIR_DUP_OUT || is_net_device(c, &out->target))
		ab_check_flow(c, NULL, AB_SINK_NET,
			      sent_by(c->out_taint, &out->target),
			      &out->target);
	if (out->kind == AB_REDIR_DUP_OUT)
		return;
	ab_list_save(c, &out->target, c->out_list, !is_append(out));
	ab_fill_check(c, NULL, c->out_taint, &out->target);
	known = known_output(c, m, in, &room);
	if (!known && m->builtin == AB_BUILTIN_CAT && m->argc == 1)
		known = in->text; /* cat >f <<<"$x" */
	part = known ? NULL : ab_part_in(m);
	if (AB_UNLIKELY(part != NULL) && m->builtin == AB_BUILTIN_CAT &&
	    m->argc == 1) {
		save_to(c, out, c->out_taint, part);
		ab_file_loosen(c, &out->target);
		return;
	}
	/* tee >(cat >f): what that gets comes later; and who knows what a
	   filter makes of what is known in part */
	if (!known && (prints_words(m) || part ||
		       (m->place.in && !m->place.in->value &&
			m->place.in->kind == AB_STREAM_PROC_OUT))) {
		ab_file_pipe(c, &out->target);
		return;
	}
	/* what a filter makes of one of several texts stays one of those; what
	   comes in by a name is none */
	is_value = m->output || (in->text && !in->text->len) ||
		   m->builtin == AB_BUILTIN_ECHO ||
		   m->builtin == AB_BUILTIN_PRINTF;
	if (known && !known->len && (is_value || !known->hole_count))
		known = known->hole_count ? as_line(c, known) : NULL;
	save_to(c, out, c->out_taint, known);
}

const struct ab_shell_redir *
ab_check_command_redirs(struct ab_check *c, const struct ab_shell_command *m,
			const struct ab_word *argv, uint32_t argc,
			struct ab_input *in)
{
	AB_UNINITIALIZED struct ab_use use;
	const struct ab_shell_redir *out;

	ab_clear(&use, sizeof(use));
	use.words = argv;
	use.count = argc;
	use.held = ab_held_new(c, argc);

	c->use = &use;
	ab_check_redirs(c, m->redirs, m->redir_count, prints_nothing(m), in,
			&out);
	c->use = NULL;
	return out;
}

void ab_save_output(struct ab_check *c, const struct ab_shell_scope *s)
{
	const struct ab_shell_redir *out = NULL;
	const struct ab_word *value = s->out ? s->out->most : NULL, *one;

	for (uint32_t i = 0; i < s->redir_count; i++) {
		const struct ab_shell_redir *r = &s->redirs[i];

		if (writes_stdout(r))
			out = r;
	}
	if (!out || !s->out)
		return;
	if (s->place.out && s->place.out != s->out &&
	    ab_redirs_may_reach(c->run, s->redirs, s->redir_count))
		s->place.out->taint |= s->out->taint &
				       ~(uint32_t)AB_STREAM_GOOD;
	if (is_net_device(c, &out->target))
		ab_check_flow(c, NULL, AB_SINK_NET,
			      sent_by(s->out->taint, &out->target),
			      &out->target);
	ab_fill_check(c, NULL, s->out->taint, &out->target);
	ab_list_save(c, &out->target, ab_list_made(c, s->out),
		     !is_append(out));
	if (value && !value->len)
		value = value->hole_count ? as_line(c, value) : NULL;
	if (value && s->out->is_part)
		value = ab_file_part(s->out->taint, value);
	save_to(c, out, s->out->taint, value);
	if (value && s->out->is_part)
		ab_file_loosen(c, &out->target);
	/* { ...; } > "$v" */
	for (uint32_t i = 0; AB_UNLIKELY(out->target.hole_count) &&
			     (one = ab_shell_choice(&out->target, i));
	     i++)
		ab_file_add(c, one, s->out->taint, value);
}
