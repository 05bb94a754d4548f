/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A filtered, read-only, point-in-time copy of a source tree: what one agent
 * may read of another's work. Source arrives whole; secrets, histories,
 * credentials of tools, dependency stores and links do not.
 *
 * Hard control: what was not copied does not exist in the copy. Two filters
 * decide, both fixed by the host: names (agentbox_snapshot(3)) and content. A
 * name of which nothing is known, with a content no rule finds, is copied:
 * the filters catch what has a name or a form. Nothing in the tree can bring
 * anything back; its `.agentboxignore` can only leave out more.
 *
 * A snapshot is a directory NAME with directories of mode 0555 and files of
 * mode 0444 (0555 where the source has an x bit), and the reader's manifest
 * in NAME/.agentbox/manifest. Beside it lies `.NAME.agentbox` (0600), the
 * host's record: options, state of the source, what was left out.
 *
 * Every call starts a job: agentbox-copy, a process of its own with the
 * source's rights and never more, without capabilities, behind Landlock and
 * seccomp (landlock(7), seccomp(2)). As root it reads with the uid and gid of
 * the source's root directory and what it writes belongs to a third uid.
 * Ended at any moment, by cancel, deadline, or its host's death, it leaves the
 * generation before as it was.
 *
 * Threads: a job belongs to one thread at a time, but
 * agentbox_snapshot_cancel() may be called from any. Options belong to one
 * thread. In a forked child of the process that started it a job returns
 * AGENTBOX_EFORKED, and get_fd() and get_timeout_ms() -1.
 *
 * Descriptors given are borrowed and duplicated. Directories may be O_PATH.
 */
#ifndef AGENTBOX_SNAPSHOT_H
#define AGENTBOX_SNAPSHOT_H

#include <agentbox/audit.h>
#include <agentbox/base.h>
#include <agentbox/policy.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct agentbox_snapshot_options agentbox_snapshot_options;
typedef struct agentbox_snapshot agentbox_snapshot;

/*
 * What to copy and how much of it. Defaults: profile "strict", content
 * "strict", hashes, git "none", 4 GiB and 1,000,000 files in all, 50 MiB a
 * file, depth 128, a deadline of 60 s. Setters copy; AGENTBOX_EINVAL for what
 * is not listed.
 */
AGENTBOX_API int32_t agentbox_snapshot_options_new(
	agentbox_snapshot_options **options, agentbox_error **err);
AGENTBOX_API void agentbox_snapshot_options_free(
	agentbox_snapshot_options *options);
/*
 * Take over the `snapshot` section of a policy (agentbox-policy(5)): exclude,
 * include and admit are added, the rest replaces. All of it or, when it fails,
 * nothing. AGENTBOX_ELIMIT: too many patterns.
 */
AGENTBOX_API int32_t agentbox_snapshot_options_set_policy(
	agentbox_snapshot_options *options, agentbox_policy *policy,
	agentbox_error **err);
/*
 * "strict": every table of agentbox_snapshot(3). "required": the required
 * names only, for those who need exactly these; links, special files, aliases
 * and content are judged all the same.
 */
AGENTBOX_API int32_t agentbox_snapshot_options_set_profile(
	agentbox_snapshot_options *options, const char *profile,
	agentbox_error **err);
/*
 * Patterns in the manner of gitignore(5), at most 4 KiB and eight `**` each.
 * Exclude leaves out more. Include brings back what exclude or the weaker
 * tables left out; what the tables call a secret only with "force:" in front.
 * What it brings back is scanned. A malformed pattern is AGENTBOX_EPOLICY.
 */
AGENTBOX_API int32_t agentbox_snapshot_options_add_exclude(
	agentbox_snapshot_options *options, const char *pattern,
	agentbox_error **err);
AGENTBOX_API int32_t agentbox_snapshot_options_add_include(
	agentbox_snapshot_options *options, const char *pattern,
	agentbox_error **err);
/*
 * "RULE:PATTERN": what this rule of the content scan finds in these files is
 * known and does not keep them out; what the other rules find does. The name
 * of the rule is the report's; a pattern as for include, a directory with all
 * below it. A rule that is sure by its form (a private key, a token of a
 * provider) is admitted in one file at a time: by its path from the root,
 * without wildcards. What was admitted is in the report and counted. Another
 * name, a pattern that is malformed or too wide: AGENTBOX_EPOLICY.
 */
AGENTBOX_API int32_t agentbox_snapshot_options_add_admit(
	agentbox_snapshot_options *options, const char *admission,
	agentbox_error **err);
/*
 * Secrets in what files hold: "strict" leaves out what any rule finds, "high"
 * what the precise rules find, "off" scans nothing. A finding names the rule
 * and the line, never the secret.
 */
AGENTBOX_API int32_t agentbox_snapshot_options_set_content(
	agentbox_snapshot_options *options, const char *level,
	agentbox_error **err);
/*
 * What is copied: "none", the directory as it is; "head", the files of the
 * commit that its repository's HEAD names; "range", the same, and where the
 * branch parted from `base`: the merge base of HEAD and that branch, tag or
 * full commit name. Both filters judge both commits, and the snapshot has a
 * repository of its own (".git") with one commit, or two, of exactly what was
 * kept: no other history, no configuration, no name, date or message of
 * anybody. `base` is NULL but for "range". See agentbox_snapshot(3).
 */
AGENTBOX_API int32_t agentbox_snapshot_options_set_git(
	agentbox_snapshot_options *options, const char *mode,
	const char *base, agentbox_error **err);
/*
 * Whose commits: not of what the source's own ".git" is or says, but of the
 * repository at `path` (absolute, without symbolic links; it, or its ".git"),
 * for a source that is a linked worktree of it (git-worktree(1)). The source's
 * ".git" is then not looked at, a refresh needs the same directory to be at
 * the path (AGENTBOX_EDENIED), and what is read there is read with the rights
 * that read the source. `head` is what "head" and "range" take for HEAD:
 * "refs/heads/NAME" or another full reference, the full name of a commit,
 * "HEAD" (that of the repository itself), or "worktrees/NAME/HEAD", which who
 * works in that worktree writes. NULL for both: the source's own again.
 * AGENTBOX_EINVAL: a relative path, a short name of a reference; from the job:
 * without "head" or "range".
 */
AGENTBOX_API int32_t agentbox_snapshot_options_set_repository(
	agentbox_snapshot_options *options, const char *path,
	const char *head, agentbox_error **err);
/* 0: no SHA-256 in the manifest; verify then compares sizes and modes. */
AGENTBOX_API int32_t agentbox_snapshot_options_set_hashes(
	agentbox_snapshot_options *options, int32_t on, agentbox_error **err);
/* In bytes, numbers and milliseconds; 0 is AGENTBOX_EINVAL. */
AGENTBOX_API int32_t agentbox_snapshot_options_set_max_bytes(
	agentbox_snapshot_options *options, uint64_t bytes,
	agentbox_error **err);
AGENTBOX_API int32_t agentbox_snapshot_options_set_max_files(
	agentbox_snapshot_options *options, uint64_t files,
	agentbox_error **err);
AGENTBOX_API int32_t agentbox_snapshot_options_set_max_file(
	agentbox_snapshot_options *options, uint64_t bytes,
	agentbox_error **err);
AGENTBOX_API int32_t agentbox_snapshot_options_set_max_depth(
	agentbox_snapshot_options *options, uint32_t depth,
	agentbox_error **err);
AGENTBOX_API int32_t agentbox_snapshot_options_set_deadline(
	agentbox_snapshot_options *options, uint64_t milliseconds,
	agentbox_error **err);
/* Each job's start and end are recorded; what cannot be is not done. */
AGENTBOX_API int32_t agentbox_snapshot_options_set_audit(
	agentbox_snapshot_options *options, agentbox_audit *audit,
	agentbox_error **err);

/*
 * Start to copy the tree at `source_fd` to the new directory `name` below
 * `dest_fd`. `source_name` is for people and for agentbox_snapshot_describe():
 * the path, say; it is not looked up. `options` may be NULL. `name` is one
 * component without a leading dot.
 *
 * Errors here: AGENTBOX_EEXIST when the name is taken, AGENTBOX_EHELPER, those
 * of the kernel. The job's own come with agentbox_snapshot_wait():
 * AGENTBOX_EINVAL when the walk of the source comes to the directory of
 * `dest_fd`, through bind mounts too (what is left out and commits are not
 * walked), AGENTBOX_ELIMIT over a limit, AGENTBOX_ETIMEOUT at the deadline,
 * AGENTBOX_EDENIED for a source that is itself a repository (unless a commit
 * of it is asked for), AGENTBOX_ESYS, AGENTBOX_EACCES; nothing was published
 * then.
 */
AGENTBOX_API int32_t agentbox_snapshot_copy(
	agentbox_context *context, int32_t source_fd, const char *source_name,
	int32_t dest_fd, const char *name,
	const agentbox_snapshot_options *options, agentbox_snapshot **job,
	agentbox_error **err);
/*
 * The next generation of a snapshot, from the same tree: AGENTBOX_EDENIED
 * when `source_fd` is another directory than the record names, AGENTBOX_EINVAL
 * when it has been moved into the snapshot. AGENTBOX_EDENIED, too, when the
 * record is another user's or others may write it: it could name any source.
 * What did not change (inode, ctime, size, mtime) is taken over from the
 * generation before; nothing changed: no new generation. The new one takes
 * the name in one rename (renameat2(2), RENAME_EXCHANGE). The generation
 * before stays for who holds a directory of it; the refresh after removes it
 * and empties its files, so that a scrub misses nothing. NULL options: those
 * of the record. AGENTBOX_ENOTFOUND: no snapshot has this name.
 * AGENTBOX_EBUSY: another job is at it.
 */
AGENTBOX_API int32_t agentbox_snapshot_refresh(
	agentbox_context *context, int32_t source_fd, int32_t dest_fd,
	const char *name, const agentbox_snapshot_options *options,
	agentbox_snapshot **job, agentbox_error **err);
/* What a copy would leave out, and why. Writes nothing. */
AGENTBOX_API int32_t agentbox_snapshot_explain(
	agentbox_context *context, int32_t source_fd,
	const agentbox_snapshot_options *options, agentbox_snapshot **job,
	agentbox_error **err);
/*
 * The tree that a copy would make, written to `out_fd` as an archive: a file,
 * a pipe or a socket, from where it stands. `format`: "tar" (also NULL),
 * "tar.gz", "tar.zst" or "zip". No byte of a file goes out before all of it
 * was looked through. The same tree makes the same bytes: byte order of the
 * paths, no owners, whole seconds, files 0444 or 0555; `.agentbox/manifest`
 * comes last. Without the archive's end when the job fails: what was written
 * is then to be thrown away. AGENTBOX_EINVAL for another format or a
 * descriptor that is not open for writing.
 */
AGENTBOX_API int32_t agentbox_snapshot_pack(
	agentbox_context *context, int32_t source_fd, const char *source_name,
	int32_t out_fd, const char *format,
	const agentbox_snapshot_options *options, agentbox_snapshot **job,
	agentbox_error **err);
/*
 * The snapshot that a copy would make of what the archive at `in_fd` holds:
 * tar (plain, gzip, zstd) or zip, told by its first bytes, read from where
 * the descriptor stands to its end. Names, kinds, content and limits are
 * judged as in a tree; links and special files are left out. An archive is
 * refused as a whole, and nothing published: AGENTBOX_EPARSE when it is
 * none, is cut off, or is followed by more; AGENTBOX_EDENIED when a name is
 * absolute, has "..", is said twice, or is both a file and a directory;
 * AGENTBOX_EUNSUPPORTED when it is encrypted; AGENTBOX_ELIMIT when it holds
 * more than the options allow, or over 64 MiB in less than a hundredth of
 * that. Such a snapshot is not refreshed: AGENTBOX_EDENIED.
 */
AGENTBOX_API int32_t agentbox_snapshot_unpack(
	agentbox_context *context, int32_t in_fd, const char *source_name,
	int32_t dest_fd, const char *name,
	const agentbox_snapshot_options *options, agentbox_snapshot **job,
	agentbox_error **err);
/*
 * Compare a snapshot with its manifest: names, modes, sizes, hashes. wait() is
 * AGENTBOX_ETAMPERED when they differ; the report says where. Else ENOTFOUND:
 * what has the name is no snapshot; EACCES: its record may not be read.
 */
AGENTBOX_API int32_t agentbox_snapshot_verify(
	agentbox_context *context, int32_t dest_fd, const char *name,
	agentbox_snapshot **job, agentbox_error **err);
/*
 * End a snapshot for those who still hold it: its name goes first, then each
 * file is truncated and unlinked, so that open descriptors read nothing and
 * mappings end with SIGBUS (mmap(2)). The files of a snapshot are linked with
 * its own older generations only. AGENTBOX_ENOTFOUND: what has the name is no
 * snapshot (it has no manifest), and stays. A refresh that runs fails.
 */
AGENTBOX_API int32_t agentbox_snapshot_scrub(
	agentbox_context *context, int32_t dest_fd, const char *name,
	agentbox_snapshot **job, agentbox_error **err);

/*
 * The record of a snapshot as JSON: {"source", "generation", "digest",
 * "files", "directories", "bytes", "left_out", "admitted"}, and "git" for a
 * snapshot of commits: their names here and in the source. A source name that
 * is not UTF-8 is written as paths in a report are, and "encoded" is true.
 */
AGENTBOX_API int32_t agentbox_snapshot_describe(
	int32_t dest_fd, const char *name, agentbox_bytes **json,
	agentbox_error **err);

/*
 * A job in a host's own loop: poll the fd (borrowed) for reading, at most
 * get_timeout_ms (-1: no timeout), then dispatch. It never blocks. Each
 * dispatch brings the progress up to date.
 */
AGENTBOX_API int32_t agentbox_snapshot_get_fd(const agentbox_snapshot *job);
AGENTBOX_API int32_t agentbox_snapshot_get_timeout_ms(
	const agentbox_snapshot *job);
AGENTBOX_API int32_t agentbox_snapshot_dispatch(agentbox_snapshot *job,
						agentbox_error **err);
/*
 * Dispatch until the job has ended, at most timeout_ms (0 only looks, -1 for
 * ever): 0 when it did what it should, AGENTBOX_ETIMEOUT with the `where`
 * "wait" when it has not ended yet, else why it failed, each time anew.
 */
AGENTBOX_API int32_t agentbox_snapshot_wait(agentbox_snapshot *job,
					    int64_t timeout_ms,
					    agentbox_error **err);
/* Ask it to stop; wait() is AGENTBOX_ECANCELED unless it was done before. */
AGENTBOX_API int32_t agentbox_snapshot_cancel(agentbox_snapshot *job,
					      agentbox_error **err);
/* "walk", "copy", "publish", "clean", then "done" or "failed". Static. */
AGENTBOX_API const char *agentbox_snapshot_get_phase(
	const agentbox_snapshot *job);
/* Done so far, and how many there will be; 0 while that is not known. */
AGENTBOX_API uint64_t agentbox_snapshot_get_files(const agentbox_snapshot *job);
AGENTBOX_API uint64_t agentbox_snapshot_get_files_in_all(
	const agentbox_snapshot *job);
AGENTBOX_API uint64_t agentbox_snapshot_get_bytes(const agentbox_snapshot *job);
/* "sha256:..." of the manifest, "" before the end. Borrowed. */
AGENTBOX_API const char *agentbox_snapshot_get_digest(
	const agentbox_snapshot *job);
/*
 * The counts after the end: generation, files, directories, bytes, copied,
 * linked, left_out, admitted, torn, raced, unchanged, swap_ns, digest; of
 * commits also git: {head, base, source_head, source_base, base_left_out}.
 */
AGENTBOX_API int32_t agentbox_snapshot_to_json(const agentbox_snapshot *job,
					       agentbox_bytes **json,
					       agentbox_error **err);
/*
 * After the end, one JSON document a line: what was left out {"path",
 * "reason", "rule", "tier", "line"}, with "in": "base" what only the base of
 * a range leaves out; with the reason "admitted" what was kept although this
 * rule found something; or for verify what is wrong {"path", "problem"}. For
 * the host and the owner of the source: a name can be a secret too, so no
 * reader gets it.
 */
AGENTBOX_API int32_t agentbox_snapshot_report(const agentbox_snapshot *job,
					      agentbox_bytes **lines,
					      agentbox_error **err);
/* A job that still runs is cancelled and waited for, at most 2 s. */
AGENTBOX_API void agentbox_snapshot_free(agentbox_snapshot *job);

#ifdef __cplusplus
}
#endif

#endif
