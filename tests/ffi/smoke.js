// SPDX-License-Identifier: LGPL-2.1-or-later
// The public interface, raw, from Node through koffi: a policy, a box, two
// commands. argv: the library, the directory koffi was installed in.
'use strict';
const fs = require('fs');
const koffi = require(process.argv[3] + '/node_modules/koffi');
const lib = koffi.load(process.argv[2]);
const EPOLICY = -4, EWALL = -8;

// Handles are pointers nobody looks into; `out` is where one is put.
const handles = ['context', 'policy', 'sandbox', 'command', 'process',
                 'bytes', 'error'];
for (const name of handles)
  koffi.opaque('agentbox_' + name);
const handle = handles.join('|');
const types = text => text
  .replace(RegExp(`\\b(${handle}) \\*\\*`, 'g'), '_Out_ agentbox_$1 **')
  .replace(RegExp(`\\b(${handle}) \\*`, 'g'), 'agentbox_$1 *');
const ab = {};
for (const [result, name, parameters] of [
  ['const char *', 'error_get_message', 'error *e'],
  ['const char *', 'error_get_where', 'error *e'],
  ['void', 'error_free', 'error *e'],
  ['void *', 'bytes_get_data', 'bytes *b'],
  ['size_t', 'bytes_get_size', 'bytes *b'],
  ['void', 'bytes_free', 'bytes *b'],
  ['int32_t', 'context_new', 'context **out, error **err'],
  ['int32_t', 'context_set_helper_dir',
   'context *c, const char *path, error **err'],
  ['int32_t', 'context_set_state_dir',
   'context *c, const char *path, error **err'],
  ['void', 'context_unref', 'context *c'],
  ['int32_t', 'policy_parse',
   'context *c, const char *text, size_t n, policy **out, error **err'],
  ['const char *', 'policy_get_digest', 'policy *p'],
  ['void', 'policy_unref', 'policy *p'],
  ['int32_t', 'sandbox_new',
   'context *c, policy *p, void *options, sandbox **out, error **err'],
  ['const char *', 'sandbox_get_id', 'sandbox *s'],
  ['int32_t', 'sandbox_spawn',
   'sandbox *s, command *c, process **out, error **err'],
  ['int32_t', 'sandbox_capture', 'sandbox *s, command *c, size_t n, ' +
   'process **out, bytes **text, void *err_text, error **err'],
  ['void', 'sandbox_free', 'sandbox *s'],
  ['int32_t', 'command_new',
   'const char **argv, size_t argc, command **out, error **err'],
  ['int32_t', 'command_set_fd',
   'command *c, int32_t target, int32_t fd, error **err'],
  ['void', 'command_free', 'command *c'],
  ['int32_t', 'process_wait', 'process *p, int64_t ms, error **err'],
  ['int32_t', 'process_get_exit_status', 'process *p'],
  ['const char *', 'process_get_reason', 'process *p'],
  ['void', 'process_free', 'process *p'],
])
  ab[name] = lib.func(
    `${result} agentbox_${name}(${types(parameters)})`);

function fail(text, status) {
  console.log(text);
  process.exit(status);
}

function must(rc, err) {
  if (rc === 0)
    return;
  const text = ab.error_get_where(err[0]) + ': ' +
               ab.error_get_message(err[0]);
  ab.error_free(err[0]);
  if (rc === EWALL)
    fail('no box can be raised here: ' + text, 77);
  fail(rc + ' at ' + text, 1);
}

function expect(what, have, want) {
  if (have !== want)
    fail(`${what} is ${JSON.stringify(have)}, not ${JSON.stringify(want)}`,
         1);
}

// The last two arguments of most calls: where the result goes, the error.
function make(name, ...given) {
  const out = [null], err = [null];
  must(ab[name](...given, out, err), err);
  return out[0];
}

function overAPipe(box) {
  // Node has no pipe(2); a FIFO in a directory of ours is one.
  const path = process.env.TMPDIR + '/fifo';
  require('child_process').execFileSync('mkfifo', [path]);
  const reader = fs.openSync(path, fs.constants.O_RDONLY |
                                   fs.constants.O_NONBLOCK);
  const writer = fs.openSync(path, 'w');
  const argv = ['/bin/sh', '-c', 'echo spawned; exit 3'];
  const command = make('command_new', argv, argv.length);
  const err = [null];
  must(ab.command_set_fd(command, 1, writer, err), err);
  fs.closeSync(writer);
  const child = make('sandbox_spawn', box, command);
  ab.command_free(command);
  must(ab.process_wait(child, 10000, err), err);
  expect('what was spawned said', fs.readFileSync(reader, 'utf8'),
         'spawned\n');
  fs.closeSync(reader);
  expect('its status', ab.process_get_exit_status(child), 3);
  expect('its reason', ab.process_get_reason(child), 'exited');
  ab.process_free(child);
}

function captured(box) {
  const argv = ['cat', 'file'];
  const command = make('command_new', argv, argv.length);
  const child = [null], out = [null], err = [null];
  must(ab.sandbox_capture(box, command, 65536, child, out, null, err), err);
  const text = koffi.decode(ab.bytes_get_data(out[0]), 'char',
                            Number(ab.bytes_get_size(out[0])));
  expect('what was captured', text, 'from the workspace\n');
  expect('its status', ab.process_get_exit_status(child[0]), 0);
  ab.bytes_free(out[0]);
  ab.process_free(child[0]);
  ab.command_free(command);
}

function parse(context, document) {
  const text = JSON.stringify(document);
  const out = [null], err = [null];
  const rc = ab.policy_parse(context, text, Buffer.byteLength(text), out,
                             err);
  return [rc, out[0], err];
}

function main() {
  const tmp = process.env.TMPDIR, err = [null];
  const context = make('context_new');
  must(ab.context_set_helper_dir(context, process.env.AB_TEST_HELPER_DIR,
                                 err), err);
  must(ab.context_set_state_dir(context, tmp + '/state', err), err);
  const wrong = parse(context, { agentbox: 1, nonsense: true });
  expect('a wrong policy', wrong[0], EPOLICY);
  expect('its place', ab.error_get_where(wrong[2][0]).split(' ')[0],
         '/nonsense');
  ab.error_free(wrong[2][0]);
  const [rc, policy, why] = parse(context, {
    agentbox: 1, extends: 'builtin:workspace', require: [],
    workspace: { path: tmp + '/ws' },
  });
  must(rc, why);
  expect('the digest', ab.policy_get_digest(policy).slice(0, 7), 'sha256:');
  const box = make('sandbox_new', context, policy, null);
  expect('the length of an id', ab.sandbox_get_id(box).length, 32);
  overAPipe(box);
  captured(box);
  ab.sandbox_free(box);
  ab.policy_unref(policy);
  ab.context_unref(context);
}

main();
