/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The parts of command.c and of the visitor in shell.c. */
#ifndef AB_GUARD_COMMAND_H
#define AB_GUARD_COMMAND_H

#include "guard/check.h"

/* Where the last component of a name begins. */
uint32_t ab_name_base(const struct ab_word *w);
/* A program of the table is called like this. */
bool ab_names_program(const struct ab_check *c, const struct ab_word *w);

/* Nobody who may loosen anything says what it does; NULL: not in the table. */
static inline bool ab_is_stranger(const struct ab_program *p)
{
	return !p || p->is_stranger;
}

/* --- runs.c --- */
static inline bool ab_has_role(const struct ab_program *p,
			       enum ab_role_kind kind)
{
	return p->role_kinds >> kind & 1;
}
/* -, /dev/stdin and its other names. */
bool ab_names_stdin(const struct ab_word *w);
static inline bool ab_is_stdin_name(const struct ab_word *w)
{
	return w->len && (*w->text == '-' || *w->text == '/') &&
	       ab_names_stdin(w);
}
/* The command that a wrapper holds. */
void ab_run_embedded(struct ab_check *c, const struct ab_word *w);
void ab_run_words(struct ab_check *c, const struct ab_use *use,
		  const struct ab_word *words, uint32_t count);
void ab_run_shell(struct ab_check *c, const struct ab_use *use,
		  const struct ab_role *role);
void ab_run_text(struct ab_check *c, const struct ab_use *use,
		 const struct ab_role *role);
void ab_run_stdin(struct ab_check *c, const struct ab_use *use,
		  const struct ab_role *role);

/* --- formats.c --- */
/* The word is a text of the role's format, which is run. */
void ab_run_code(struct ab_check *c, const struct ab_use *use,
		 const struct ab_role *role, const struct ab_word *w);

/* --- mounts.c --- */
/* What a container does to what it was given of this machine; its command's
   words begin there. */
void ab_run_mounted(struct ab_check *c, const struct ab_use *use,
		    uint32_t first) AB_COLD;

/* --- wrap.c --- */
/* The command without an operand that may be options, or nothing. */
void ab_run_without(struct ab_check *c, const struct ab_use *use) AB_COLD;
void ab_run_wrap(struct ab_check *c, const struct ab_use *use,
		 const struct ab_role *role);

/* --- typed.c --- */
/* The words from there on are keys: what a shell reads of them. */
bool ab_typed_text(struct ab_check *c, const struct ab_use *use,
		   uint32_t first, struct ab_word *out);
/* Commands with `;` between them: each was judged. */
bool ab_split_commands(struct ab_check *c, const struct ab_use *use);
/* A text of such commands. */
void ab_command_text(struct ab_check *c, const struct ab_use *use,
		     const struct ab_word *w);
/* The words from there on, or the text that is the only one, are commands of
   the program itself. */
void ab_run_commands(struct ab_check *c, const struct ab_use *use,
		     uint32_t first);

/* --- command.c --- */
void ab_judge_program(struct ab_check *c, const struct ab_program *p,
		      struct ab_use *use);

/* --- called.c --- */
/* build/bench: a file of the project, by the name that it is called. */
bool ab_is_of_project(struct ab_check *c, const struct ab_word *w);
/* A name with a pattern in it may be any program that it takes. */
void ab_judge_pattern(struct ab_check *c, const struct ab_use *use);
/* The name is what a find told, and each was judged. False: it is not. */
bool ab_judge_found(struct ab_check *c, const struct ab_use *use);

/* --- stdin.c --- */
/* The command's stdin is where a shell reads its script. */
bool ab_is_on_script(const struct ab_check *c,
		     const struct ab_shell_command *m);
/* `3<&0`: another descriptor is that, too. */
void ab_note_script_copy(struct ab_check *c, const struct ab_shell_redir *r);
/* A part of such a stdin is taken, and the shell goes on behind it. */
bool ab_takes_script(struct ab_check *c, const struct ab_use *use);

/* --- outs.c --- */
/* Where options say that the program writes, whatever program it is. */
void ab_check_outs(struct ab_check *c, const struct ab_use *use);

/* --- transfer.c --- */
/* Commands of ftp and its kind: the files that they send. */
void ab_check_transfer(struct ab_check *c, const struct ab_use *use,
		       const struct ab_word *text);

/* What the patterns of curl in a word stand for. */
void ab_check_globs(struct ab_check *c, const struct ab_use *use,
		    const struct ab_word *w);
/* Options of curl in a file. */
void ab_check_curl(struct ab_check *c, const struct ab_use *use,
		   const struct ab_word *text);

/* --- code_sed.c --- */
void ab_check_sed(struct ab_check *c, const struct ab_use *use,
		  const struct ab_word *text);

/* --- xargs.c --- */
/* The words of a find -exec with `{}` put in, or of xargs with its input. */
bool ab_fill_words(struct ab_check *c, const struct ab_use *use,
		   const struct ab_word *from, uint32_t count,
		   const char *mark, const struct ab_word *value,
		   struct ab_word *to);
/* One hole that stands for all arguments that stdin brings. */
bool ab_stdin_word(struct ab_check *c, const struct ab_use *use,
		   struct ab_word *out);
void ab_wrap_xargs(struct ab_check *c, const struct ab_use *use,
		  const struct ab_word *words, uint32_t count);
void ab_wrap_find(struct ab_check *c, const struct ab_use *use,
		 const struct ab_word *words, uint32_t count);

/* --- callback.c --- */
/* What a builtin runs itself, of a word that says it. */
void ab_callback(struct ab_check *c, const struct ab_use *use,
		 struct ab_word *text);

/* --- fill.c --- */
/* /dev/zero and its kind. */
bool ab_fill_is_source(const struct ab_word *w);
/* What it prints does not end where what it reads does not. */
bool ab_fill_goes_on(const struct ab_use *use);
/* It goes into a file. */
void ab_fill_check(struct ab_check *c, const struct ab_use *use, uint32_t taint,
		   const struct ab_word *path);

/* --- lists.c --- */
/* tar -T FILE, cpio -o: a program reads the files that stand in that one, or
   (path NULL) on its stdin. */
void ab_list_read(struct ab_check *c, const struct ab_use *use,
		  const struct ab_word *path);

/* What is redirected to a compound, of that taint, and names in it. */
void ab_list_open(struct ab_check *c, struct ab_stream *in, uint32_t taint);

/* --- names.c --- */
/* A copy that lives as long as the check. */
bool ab_keep_word(struct ab_check *c, const struct ab_word *w,
		  struct ab_word *out);
/* cat $(find ~ -name id_rsa): what the names are is judged, too. */
void ab_check_found(struct ab_check *c, const struct ab_word *words,
		    uint32_t count);
/* > "$(find ~)": the same of one that is opened. */
void ab_check_found_path(struct ab_check *c, enum ab_role_kind role,
			 const struct ab_word *w);
/* All that the hole stands for are names that a find in the project told, which
   looked for names. */
bool ab_names_are_own(const struct ab_hole *hole);
/* find prints names into a pipe, or head passes them on: `| xargs` will read
   them. For a command of the text whose output goes into a stream. */
void ab_wrap_names(struct ab_check *c, const struct ab_use *use);

/* --- links.c --- */
/* The word becomes a name of what the command at hand has read, or its new
   place. */
void ab_link_word(struct ab_check *c, const struct ab_use *use,
		  const struct ab_role *role, const struct ab_word *w);
/* An archive is taken apart there: the text's links may be in it. */
void ab_link_unpack(struct ab_check *c, const struct ab_word *dir);
/* What the last command made is there from here on. */
void ab_links_settle(struct ab_check *c);
/* There are too many to be followed: the text is denied. */
void ab_links_give_up(struct ab_check *c);
/* w becomes a link to that; symbolic: seen from where w is. */
void ab_link_make(struct ab_check *c, const struct ab_word *to,
		  const struct ab_word *w, bool is_symbolic);

/* --- defined.c --- */
/* True: it is told later, or a call tells better. */
bool ab_defined_defer(struct ab_check *c,
		      const struct ab_shell_found *found) AB_COLD;
/* A function over the name of a program that has rules is asked about. */
void ab_defined_shadow(struct ab_check *c, const struct ab_shell_function *f);
void ab_defined_begin(struct ab_check *c, const struct ab_shell_scope *s);
void ab_defined_end(struct ab_check *c, const struct ab_shell_scope *s);
/* A function that the text may call, through at most so many others, has been
   asked about. */
bool ab_defined_reaches(struct ab_check *c, const char *text, uint32_t len,
			uint32_t depth);
/* The words of a command that may export functions. */
void ab_defined_export(struct ab_check *c, const struct ab_word *argv,
		       uint32_t argc);
/* The text is over. */
void ab_defined_tell(struct ab_check *c);

/* --- traps.c --- */
/* A text that `trap` keeps, and for which signals. */
void ab_trap_set(struct ab_check *c, const struct ab_word *words,
		 uint32_t count);
/* A variable that one waits for is set now. */
void ab_traps_wake(struct ab_check *c);
/* A function was defined, which one may call, or which is one itself. */
void ab_traps_define(struct ab_check *c, const struct ab_shell_function *f);
static inline bool ab_is_trap_name(const struct ab_shell_function *f)
{
	return !strncmp(f->name, "TRAP", 4) || !strcmp(f->name, "chpwd") ||
	       !strcmp(f->name, "zshexit");
}
/* A function is over, and its own variables are still there. */
void ab_traps_leave(struct ab_check *c);
/* Those of the shell at hand run here, perhaps; is_end: they surely do. */
void ab_traps_run(struct ab_check *c, bool is_end);
/* The shell, or a subshell at that depth, is over. */
void ab_traps_end(struct ab_check *c, uint32_t depth);

/* --- bytes.c --- */
/* The first byte of the text that no line should hold is asked about. */
void ab_check_bytes(struct ab_check *c, const char *text, size_t n);

/* --- shopts.c --- */
/* The word behind "command" and "builtin", or argc. */
uint32_t ab_find_builtin(const struct ab_word *argv, uint32_t argc);
/* A variable that a shell takes options from is set. */
void ab_note_variable(struct ab_check *c, const char *name, uint32_t len,
		      const struct ab_word *value);
/* A word that may be the name of an option, or set such a variable. */
void ab_note_word(struct ab_check *c, const struct ab_word *w);
/* `shopt -s $X`, however it is called. */
bool ab_is_shopt(const struct ab_word *argv, uint32_t argc);
/* `shopt -u NAME`, which surely runs in the shell itself. */
bool ab_drops_options(struct ab_check *c, const struct ab_word *argv,
		      uint32_t argc);
/* set -P, set -o physical: `cd ..` goes up from where a link leads. */
void ab_note_exported(struct ab_check *c, const struct ab_word *argv,
		      uint32_t argc);
void ab_note_modes(struct ab_check *c, const struct ab_word *argv,
		   uint32_t argc) AB_COLD;
void ab_note_set(struct ab_check *c, const struct ab_word *argv, uint32_t argc);
/* What is known beyond the variables of the run, in a number: links, archives
   taken apart, files edited by a pattern, and options of the shell. */
uint64_t ab_known_beside(const struct ab_check *c);

/* --- files_beside.c --- */
/* What is so before the command, as `cp -b f g` keeps g; and of patterns among
   its words, as `mv t* d` has them. */
void ab_file_before(struct ab_check *c, const struct ab_use *use) AB_COLD;
void ab_file_after(struct ab_check *c, const struct ab_use *use) AB_COLD;

/* --- dirs.c --- */
#define AB_CWD_BEFORE " cwd before" /* the last `cd` */
#define AB_CWD_WORD " cwd word" /* of the last `cd`, where it has a hole */
/* Where `cd "$(mktemp -d)"` leads: no directory, but like one of those. */
#define AB_TEMP_DIR "/tmp/tmp.XXXXXXXXXX"
/* The working directory after `cd WORD`; NULL: unknown. */
const struct ab_word *ab_cwd_after(struct ab_check *c,
				   const struct ab_word *w);
/* cd, pushd, popd. */
void ab_dir_change(struct ab_check *c, enum ab_builtin builtin,
		   const struct ab_word *argv, uint32_t argc);
/* cd build || rm -rf *: where that did not lead away from; or NULL. */
const struct ab_word *ab_dir_unmoved(struct ab_check *c) AB_COLD;

/* --- stayed.c --- */
/* A cd to that; NULL: to where nobody knows. Before it is done. */
void ab_stayed_note(struct ab_check *c, const struct ab_word *to);
/* Where the command at hand stands should one before have failed. */
void ab_stayed_prepare(struct ab_check *c) AB_COLD;
/* That decides what the word is; the classes that it may have then, from there
   or from where they are the usual ones. */
bool ab_stayed_counts(const struct ab_check *c, const struct ab_word *w);
uint64_t ab_stayed_classes(struct ab_check *c, const struct ab_word *w,
			   uint64_t usual);

/* --- files.c --- */
/* Who knows what is in it beside what the text put in: who runs it is judged by
   that, and who reads it reads something else. */
void ab_file_loosen(struct ab_check *c, const struct ab_word *path);
/* What is kept of a file where the rest is from there; NULL: that says more. */
const struct ab_word *ab_file_part(uint32_t taint, const struct ab_word *known);
/* mkfifo: what anybody writes there, also later, is what it holds. */
void ab_file_pipe(struct ab_check *c, const struct ab_word *path);
/* split: what it reads is in files of which the word is how they begin. */
void ab_file_split(struct ab_check *c, const struct ab_use *use,
		   const struct ab_role *role);
/*
 * Files that the text itself writes, by their path: what was put in, or
 * where it came from. is_url: the name is the last component of an address.
 */
/* The same by who may add it to what is there, or leave that as it is:
 * `tee -a`, `cp -n`, and all where `set -C` was. */
/* By its options, it may. */
bool ab_may_keep(const struct ab_use *use);
void ab_file_add(struct ab_check *c, const struct ab_word *path,
		 uint32_t taint, const struct ab_word *content);
void ab_file_save(struct ab_check *c, const struct ab_word *path,
		  uint32_t taint, const struct ab_word *content, bool is_url);
/* The same, behind what the file holds already. */
void ab_file_append(struct ab_check *c, const struct ab_word *path,
		    uint32_t taint, const struct ab_word *content);
/* What can be read from a file descriptor of the shell; content may be NULL:
   bytes of unknown value from there. */
void ab_fd_save(struct ab_check *c, int64_t fd, uint32_t taint,
		const struct ab_word *content);
const struct ab_word *ab_fd_content(struct ab_check *c, int64_t fd);
/* The taint of that; of one of several texts as of a program's output. */
uint32_t ab_fd_taint(struct ab_check *c, int64_t fd,
		     const struct ab_word *content);
uint32_t ab_file_taint(struct ab_check *c, const struct ab_word *path);
/* What /proc/self/status says: numbers of processes. */
uint32_t ab_status_taint(struct ab_check *c, const struct ab_word *path);
/* What it holds is known to be one of several texts. */
bool ab_file_is_either(struct ab_check *c, const struct ab_word *path);
/* The text says nothing of the file. */
bool ab_file_is_untold(const struct ab_check *c, const struct ab_word *path);
/* The text itself put something in. */
bool ab_file_is_written(struct ab_check *c, const struct ab_word *path);
/* What a file holds, as far as the text says; or NULL. */
const struct ab_word *ab_file_content(struct ab_check *c,
				      const struct ab_word *path);

/* --- files_edit.c --- */
/* Pieces of a program that go into the files that the command edits; NULL: it
   edits none. */
struct ab_edit;
struct ab_edit *ab_edit_begin(struct ab_check *c, const struct ab_use *use,
			      const struct ab_word *from);
/* From there to there; quoted: as sed and ex have it in place of a pattern. */
void ab_edit_piece(struct ab_edit *e, uint32_t from, uint32_t end);
void ab_edit_quoted(struct ab_edit *e, uint32_t from, uint32_t end);
/* What that file holds is put in. */
void ab_edit_read(struct ab_edit *e, const struct ab_word *path) AB_COLD;
void ab_edit_end(struct ab_edit *e);
/* Those of a program in that language. */
void ab_edit_by(struct ab_check *c, const struct ab_use *use, const char *lang,
		const struct ab_word *text);
/* The lines that a patch adds. */
void ab_edit_patch(struct ab_check *c, const struct ab_use *use,
		   const struct ab_word *patch);

/* --- files_copy.c --- */
/* A program that copies: what it reads, and then where it goes. */
void ab_file_read(struct ab_check *c, const struct ab_word *path);
void ab_file_copy(struct ab_check *c, const struct ab_use *use,
		  const struct ab_word *path);
/* `cp x/.git .`: by the names that what was read has in that directory. */
void ab_file_enter(struct ab_check *c, const struct ab_use *use,
		   const struct ab_role *role, const struct ab_word *dir);
/* The same of one of them: shutil.copy("x/.bashrc", "/home/u"). */
void ab_file_land(struct ab_check *c, const struct ab_use *use,
		  const struct ab_word *from, const struct ab_word *dir);
/* A program writes what it made of what it was given, in a way of its own. */
void ab_file_make(struct ab_check *c, const struct ab_use *use,
		  const struct ab_word *path);
/* What is called `from` on another machine is there now, or in it. */
void ab_file_fetch(struct ab_check *c, const struct ab_word *from,
		   const struct ab_word *to);

/* --- dumps.c --- */
/* What is asked about a dump of the environment waits for who reads it; false:
   nobody does, behind a pipe. */
bool ab_dump_hold(struct ab_check *c, const struct ab_shell_found *found);
/* That is the next command, while one waits. */
void ab_dump_next(struct ab_check *c, const struct ab_shell_command *m);
/* What waits is asked. */
void ab_dump_tell(struct ab_check *c);

/* --- parsed.c --- */
/* The text wrote all of the file, and no part of it runs while perl parses
   it. */
bool ab_file_is_only_parsed(struct ab_check *c, const struct ab_word *path);

/* --- files_run.c --- */
/* What the program reads there are statements, which nobody knows but where
   the text has them. */
bool ab_is_statements(const struct ab_role *role);
/* file:test_*.py: each file of the text with such a name, wherever it is. */
void ab_file_named(struct ab_check *c, const struct ab_use *use,
		   const struct ab_role *role, const char *name,
		   ab_role_fn *fn);
/* The next file that the text wrote and that could be run, from *i on. */
bool ab_file_next(struct ab_check *c, uint32_t *i, struct ab_word *path);
/* The bit of the name under which a file is loaded as a module. */
uint64_t ab_file_module_bit(const char *path, uint32_t len);
/* The next file of the text that may be a module of that name, in whatever
   directory: a/b is /x/a/b.py, and /x/a/b/__init__.py. */
bool ab_file_next_module(struct ab_check *c, const struct ab_word *name,
			 uint32_t *i, struct ab_word *path);
void ab_file_run_module(struct ab_check *c, const struct ab_use *use,
			const struct ab_word *name);
/* The file is run by the program of use: a shell, source, an interpreter. */
void ab_file_run(struct ab_check *c, const struct ab_use *use,
		 const struct ab_word *path);
/* words[0] is the path of a file that is run; true: it was judged as what
   its contents say that it is. */
bool ab_file_command(struct ab_check *c, const struct ab_word *words,
		     uint32_t count, uint32_t in_taint,
		     const struct ab_word *in_text, bool has_stdin);

/* --- files_unpack.c --- */
/* An archive was taken apart there: any file below may be of it. */
void ab_file_unpack(struct ab_check *c, const struct ab_word *dir,
		    uint32_t taint);

/* --- redirs.c --- */
/* Of what a pipe brings it, that which is known where the rest is not: `{ date;
 * echo x; } | cat >f`; or NULL. */
const struct ab_word *ab_part_in(const struct ab_shell_command *m);
/* What a command finds on its stdin. */
struct ab_input {
	uint32_t taint;
	const struct ab_word *text;
	bool has;
};
/* likely.c: words that one default makes, as they stand there. */
void ab_check_likely(struct ab_check *c, const struct ab_word *argv,
		     uint32_t argc, const struct ab_input *in);
/* A command of the text. */
static inline void ab_check_spelled(struct ab_check *c,
				    const struct ab_shell_command *m,
				    const struct ab_word *argv, uint32_t argc,
				    const struct ab_input *in)
{
	ab_check_words(c, argv, argc, in->taint, in->text, in->has);
	if (!m->is_kept)
		ab_check_likely(c, argv, argc, in);
}

/* The redirections in order; *out is the last file that stdout goes to. */
void ab_check_redirs(struct ab_check *c, const struct ab_shell_redir *all,
		     uint32_t count, bool is_empty, struct ab_input *in,
		     const struct ab_shell_redir **out);
/* Stdin is opened by one redirection, as a file of its own. */
bool ab_is_file_input(const struct ab_shell_redir *r, uint32_t count);
/* What a compound reads is what git or a find told. */
void ab_pass_note(const struct ab_shell_scope *s);
/* read x <f, and $(<f), which prints it: the shell is told what is in it. */
void ab_tell_input(struct ab_check *c, const struct ab_shell_command *m,
		   const struct ab_input *in);
/* Those of a command; the last file that stdout goes to, or NULL. */
const struct ab_shell_redir *
ab_check_command_redirs(struct ab_check *c, const struct ab_shell_command *m,
			const struct ab_word *argv, uint32_t argc,
			struct ab_input *in);
/* What it reads comes from place.in, and what it prints goes to place.out. */
bool ab_has_stdin(const struct ab_shell_command *m);
bool ab_has_stdout(const struct ab_shell_command *m);
/* The file that it makes anew of what it prints; or NULL. */
const struct ab_word *ab_stdout_file(const struct ab_shell_command *m);
/* What the command leaves in that file. */
void ab_save_command(struct ab_check *c, const struct ab_shell_command *m,
		     const struct ab_shell_redir *out,
		     const struct ab_input *in);
/* What the commands of a compound wrote into its file. */
void ab_save_output(struct ab_check *c, const struct ab_shell_scope *s);

/* --- check_git.c --- */
/* A command writes to the same stream as git did before. */
void ab_git_note_else(struct ab_check *c, const struct ab_shell_command *m);
/* The words with the worktree in place of what git told of it. */
const struct ab_word *ab_git_root_words(struct ab_check *c,
					const struct ab_word *words,
					uint32_t count);
void ab_check_git(struct ab_check *c, const struct ab_word *words,
		  uint32_t count);
void ab_check_git_assign(struct ab_check *c, const char *name, uint32_t len,
			 const struct ab_word *value);

#endif
