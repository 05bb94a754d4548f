/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The objects every other header uses: the context, owned bytes, errors.
 *
 * Rules that hold for the whole interface:
 *  - A function returns 0 or a negative AGENTBOX_E* code. On failure no
 *    out-parameter is touched and, when `err` is not NULL, *err receives an
 *    error the caller frees with agentbox_error_free(). *err must be NULL
 *    or unset on entry; it is only written on failure.
 *  - `new` makes an object with one owner, `free` ends it. `ref`/`unref`
 *    share an immutable one. `free` and `unref` accept NULL.
 *  - Borrowed pointers live as long as the object they came from. What a
 *    function hands out as agentbox_bytes or agentbox_error is owned by the
 *    caller and belongs to one thread at a time.
 *  - Any function may return AGENTBOX_EINVAL for an argument that is NULL or
 *    out of range, and AGENTBOX_ENOMEM; other codes stand with the function.
 *  - Everything is since 1.0 unless it says otherwise.
 *  - The library never forks, prints, exits, starts threads, reads the
 *    environment or changes process-wide state.
 */
#ifndef AGENTBOX_BASE_H
#define AGENTBOX_BASE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define AGENTBOX_API __attribute__((visibility("default")))
#else
#define AGENTBOX_API
#endif

/* Result codes. A value is never reused; see agentbox_error_name(). */
#define AGENTBOX_OK 0
/* an argument of the call is wrong: a defect of the caller */
#define AGENTBOX_EINVAL (-1)
#define AGENTBOX_ENOMEM (-2)
/* bytes are not well-formed (JSON syntax, encoding, framing) */
#define AGENTBOX_EPARSE (-3)
/* well-formed, but not a policy: unknown key, wrong type, bad value */
#define AGENTBOX_EPOLICY (-4)
/* a named object does not exist */
#define AGENTBOX_ENOTFOUND (-5)
/* the kernel refused the host itself access to an object */
#define AGENTBOX_EACCES (-6)
/* a judgement of this library refused the request */
#define AGENTBOX_EDENIED (-7)
/* a wall that the policy requires cannot be raised here */
#define AGENTBOX_EWALL (-8)
/* a helper program is missing, not trusted, of another build, or died */
#define AGENTBOX_EHELPER (-9)
/* a peer sent something it may not send */
#define AGENTBOX_EPROTO (-10)
/* a system call failed; agentbox_error_get_errno() tells how */
#define AGENTBOX_ESYS (-11)
/* a bound of the library or the policy was reached */
#define AGENTBOX_ELIMIT (-12)
/* it did not happen in the time that was given */
#define AGENTBOX_ETIMEOUT (-13)
/* the object has ended (box gone, process already reaped) */
#define AGENTBOX_ECLOSED (-14)
/* somebody else has it, or it is too late for this call */
#define AGENTBOX_EBUSY (-15)
/* a handle was used in a forked child of the process that made it */
#define AGENTBOX_EFORKED (-16)
/* nothing is ready; not an error, *err is not set */
#define AGENTBOX_EAGAIN (-17)
/* the name is taken */
#define AGENTBOX_EEXIST (-18)
/* the feature is not in this build or this kernel */
#define AGENTBOX_EUNSUPPORTED (-19)
/* a record, chain or signature does not verify */
#define AGENTBOX_ETAMPERED (-20)
/* the other side, or a callback, gave it up */
#define AGENTBOX_ECANCELED (-21)

/* Log levels for agentbox_log_fn. */
#define AGENTBOX_LOG_ERROR 1
#define AGENTBOX_LOG_WARNING 2
#define AGENTBOX_LOG_INFO 3
#define AGENTBOX_LOG_DEBUG 4

typedef struct agentbox_context agentbox_context;
typedef struct agentbox_bytes agentbox_bytes;
typedef struct agentbox_error agentbox_error;

/*
 * Called on the thread of the library call that has something to say, never
 * from another thread. `message` is one line, borrowed for the call. The
 * callback must not call the library with the handle that is logging.
 */
typedef void (*agentbox_log_fn)(void *data, int32_t level,
				const char *message);

/* "1.0.0": static. */
AGENTBOX_API const char *agentbox_version(void);

/*
 * Identity of this build, shared by the library and its helpers: a helper
 * with another id is refused before it is given anything. Static.
 */
AGENTBOX_API const char *agentbox_build_id(void);

/*
 * 1 when the build has the named feature ("box", "policy", "audit",
 * "gateway", ...), else 0: unknown names and NULL are 0.
 */
AGENTBOX_API int32_t agentbox_has_feature(const char *name);

/*
 * A context: where helpers and state are, who gets the log. Setters are for
 * the time before it is handed to anything else: after the first object was
 * made from it they return AGENTBOX_EBUSY. Afterwards it is immutable and
 * may be used from any thread.
 */
AGENTBOX_API int32_t agentbox_context_new(agentbox_context **context,
					  agentbox_error **err);
AGENTBOX_API agentbox_context *agentbox_context_ref(agentbox_context *context);
AGENTBOX_API void agentbox_context_unref(agentbox_context *context);

/*
 * Directory of the helper programs: an absolute path, copied. It is opened
 * when a helper starts: a helper that another user could write is refused
 * (AGENTBOX_EHELPER) then. NULL restores the default: the compiled
 * pkglibexecdir, else ../libexec/agentbox beside the shared object.
 * AGENTBOX_EINVAL: not absolute or too long. AGENTBOX_EBUSY: see above.
 */
AGENTBOX_API int32_t agentbox_context_set_helper_dir(agentbox_context *context,
						     const char *path,
						     agentbox_error **err);

/*
 * Directory for what outlives a call (owner sockets, quarantine, overlays):
 * an absolute path, copied, created 0700 when first needed. It must belong
 * to the caller, be closed to others and not be a symbolic link, or what
 * needs it fails with AGENTBOX_EDENIED; where it cannot be made, with what
 * the kernel says (AGENTBOX_EACCES, ENOTFOUND, ESYS). No box sees it: it is
 * hidden in every mount that holds it. NULL, the default: none; what needs one
 * fails with AGENTBOX_EINVAL, a box that has names to protect with EWALL.
 * AGENTBOX_EINVAL, AGENTBOX_EBUSY of this call: as above.
 */
AGENTBOX_API int32_t agentbox_context_set_state_dir(agentbox_context *context,
						    const char *path,
						    agentbox_error **err);

/* NULL `fn` turns logging off, which is the default. `data` is borrowed. */
AGENTBOX_API int32_t agentbox_context_set_log(agentbox_context *context,
					      agentbox_log_fn fn, void *data,
					      agentbox_error **err);

/*
 * Owned output. The data is followed by a NUL that the size does not count,
 * so text can be used as a C string; binary data may contain NULs.
 */
AGENTBOX_API const char *agentbox_bytes_get_data(const agentbox_bytes *bytes);
AGENTBOX_API size_t agentbox_bytes_get_size(const agentbox_bytes *bytes);
AGENTBOX_API void agentbox_bytes_free(agentbox_bytes *bytes);

/*
 * Errors. `message` is one line for a person; `where` is a JSON pointer with
 * line:column for documents, or a stage such as "mounts[3]", or "" when the
 * place is the call itself. `errno` is 0 when no system call was involved.
 * Getters on NULL return AGENTBOX_OK, 0 and "".
 */
AGENTBOX_API int32_t agentbox_error_get_code(const agentbox_error *error);
AGENTBOX_API int32_t agentbox_error_get_errno(const agentbox_error *error);
AGENTBOX_API const char *agentbox_error_get_message(
	const agentbox_error *error);
AGENTBOX_API const char *agentbox_error_get_where(const agentbox_error *error);
AGENTBOX_API void agentbox_error_free(agentbox_error *error);

/* "EPOLICY" for AGENTBOX_EPOLICY; "EUNKNOWN" for no code of ours. Static. */
AGENTBOX_API const char *agentbox_error_name(int32_t code);

#ifdef __cplusplus
}
#endif

#endif
