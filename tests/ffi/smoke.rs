// SPDX-License-Identifier: LGPL-2.1-or-later
//! The public interface, raw, from Rust: a policy, a box, two commands.
//! rustc alone, no crates.
use std::env;
use std::ffi::{c_void, CStr, CString};
use std::fs::File;
use std::io::Read;
// as Debian 12's Rust 1.63 names them
use std::os::raw::c_char;
use std::os::unix::io::FromRawFd;
use std::process::exit;
use std::ptr::null_mut;

type P = *mut c_void;
const EPOLICY: i32 = -4;
const EWALL: i32 = -8;

#[link(name = "agentbox")]
extern "C" {
    fn agentbox_error_get_message(e: P) -> *const c_char;
    fn agentbox_error_get_where(e: P) -> *const c_char;
    fn agentbox_error_free(e: P);
    fn agentbox_bytes_get_data(b: P) -> *const u8;
    fn agentbox_bytes_get_size(b: P) -> usize;
    fn agentbox_bytes_free(b: P);
    fn agentbox_context_new(out: *mut P, err: *mut P) -> i32;
    fn agentbox_context_set_helper_dir(c: P, path: *const c_char, err: *mut P) -> i32;
    fn agentbox_context_set_state_dir(c: P, path: *const c_char, err: *mut P) -> i32;
    fn agentbox_context_unref(c: P);
    fn agentbox_policy_parse(c: P, text: *const c_char, n: usize, out: *mut P, err: *mut P) -> i32;
    fn agentbox_policy_get_digest(p: P) -> *const c_char;
    fn agentbox_policy_unref(p: P);
    fn agentbox_sandbox_new(c: P, p: P, options: P, out: *mut P, err: *mut P) -> i32;
    fn agentbox_sandbox_get_id(s: P) -> *const c_char;
    fn agentbox_sandbox_spawn(s: P, c: P, out: *mut P, err: *mut P) -> i32;
    fn agentbox_sandbox_capture(
        s: P, c: P, max: usize, out: *mut P, text: *mut P, err_text: *mut P, err: *mut P,
    ) -> i32;
    fn agentbox_sandbox_free(s: P);
    fn agentbox_command_new(argv: *const *const c_char, argc: usize, out: *mut P, err: *mut P)
        -> i32;
    fn agentbox_command_set_fd(c: P, target: i32, fd: i32, err: *mut P) -> i32;
    fn agentbox_command_free(c: P);
    fn agentbox_process_wait(p: P, ms: i64, err: *mut P) -> i32;
    fn agentbox_process_get_exit_status(p: P) -> i32;
    fn agentbox_process_get_reason(p: P) -> *const c_char;
    fn agentbox_process_free(p: P);
    fn pipe(fds: *mut i32) -> i32;
    fn close(fd: i32) -> i32;
}

fn text(p: *const c_char) -> String {
    unsafe { CStr::from_ptr(p) }.to_string_lossy().into_owned()
}

fn must(rc: i32, err: P) {
    if rc == 0 {
        return;
    }
    let (place, message) =
        unsafe { (text(agentbox_error_get_where(err)), text(agentbox_error_get_message(err))) };
    unsafe { agentbox_error_free(err) };
    if rc == EWALL {
        println!("no box can be raised here: {place}: {message}");
        exit(77);
    }
    println!("{rc} at '{place}': {message}");
    exit(1);
}

fn expect<T: PartialEq + std::fmt::Debug>(what: &str, have: T, want: T) {
    if have != want {
        println!("{what} is {have:?}, not {want:?}");
        exit(1);
    }
}

fn command(argv: &[&str]) -> P {
    let owned: Vec<CString> = argv.iter().map(|a| CString::new(*a).unwrap()).collect();
    let raw: Vec<*const c_char> = owned.iter().map(|a| a.as_ptr()).collect();
    let (mut out, mut err) = (null_mut(), null_mut());
    must(unsafe { agentbox_command_new(raw.as_ptr(), raw.len(), &mut out, &mut err) }, err);
    out
}

fn over_a_pipe(sandbox: P) {
    let mut fds = [-1i32; 2];
    let (mut process, mut err) = (null_mut(), null_mut());
    let made = command(&["/bin/sh", "-c", "echo spawned; exit 3"]);
    let mut said = String::new();
    unsafe {
        expect("pipe()", pipe(fds.as_mut_ptr()), 0);
        must(agentbox_command_set_fd(made, 1, fds[1], &mut err), err);
        must(agentbox_sandbox_spawn(sandbox, made, &mut process, &mut err), err);
        close(fds[1]);
        agentbox_command_free(made);
        File::from_raw_fd(fds[0]).read_to_string(&mut said).unwrap();
        expect("what was spawned said", said.as_str(), "spawned\n");
        must(agentbox_process_wait(process, 10000, &mut err), err);
        expect("its status", agentbox_process_get_exit_status(process), 3);
        expect("its reason", text(agentbox_process_get_reason(process)).as_str(), "exited");
        agentbox_process_free(process);
    }
}

fn captured(sandbox: P) {
    let (mut process, mut out, mut err) = (null_mut(), null_mut(), null_mut());
    let made = command(&["cat", "file"]);
    unsafe {
        let rc = agentbox_sandbox_capture(
            sandbox, made, 1 << 16, &mut process, &mut out, null_mut(), &mut err,
        );
        must(rc, err);
        let n = agentbox_bytes_get_size(out);
        let bytes = std::slice::from_raw_parts(agentbox_bytes_get_data(out), n);
        expect("what was captured", bytes, b"from the workspace\n".as_slice());
        expect("its status", agentbox_process_get_exit_status(process), 0);
        agentbox_bytes_free(out);
        agentbox_process_free(process);
        agentbox_command_free(made);
    }
}

fn parse(context: P, document: &str) -> (i32, P, P) {
    let (mut out, mut err) = (null_mut(), null_mut());
    let rc = unsafe {
        agentbox_policy_parse(
            context, document.as_ptr().cast(), document.len(), &mut out, &mut err,
        )
    };
    (rc, out, err)
}

fn main() {
    let tmp = env::var("TMPDIR").unwrap();
    let helpers = CString::new(env::var("AB_TEST_HELPER_DIR").unwrap()).unwrap();
    let state = CString::new(format!("{tmp}/state")).unwrap();
    let (mut context, mut sandbox, mut err) = (null_mut(), null_mut(), null_mut());
    unsafe {
        must(agentbox_context_new(&mut context, &mut err), err);
        must(agentbox_context_set_helper_dir(context, helpers.as_ptr(), &mut err), err);
        must(agentbox_context_set_state_dir(context, state.as_ptr(), &mut err), err);
        let (rc, _, wrong) = parse(context, r#"{"agentbox":1,"nonsense":true}"#);
        expect("a wrong policy", rc, EPOLICY);
        let place = text(agentbox_error_get_where(wrong));
        expect("its place", place.split(' ').next(), Some("/nonsense"));
        agentbox_error_free(wrong);
        let (rc, policy, why) = parse(
            context,
            &format!(
                r#"{{"agentbox":1,"extends":"builtin:workspace","require":[],
                    "workspace":{{"path":"{tmp}/ws"}}}}"#
            ),
        );
        must(rc, why);
        expect("the digest", &text(agentbox_policy_get_digest(policy))[..7], "sha256:");
        must(agentbox_sandbox_new(context, policy, null_mut(), &mut sandbox, &mut err), err);
        expect("the length of an id", text(agentbox_sandbox_get_id(sandbox)).len(), 32);
        over_a_pipe(sandbox);
        captured(sandbox);
        agentbox_sandbox_free(sandbox);
        agentbox_policy_unref(policy);
        agentbox_context_unref(context);
    }
}
