/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What people run in a box runs in the default profile. Row 112 of
 * tests/e2e/SANDBOX-CASES.md. A program that is not installed in a place the
 * built-in policy mounts is skipped by name.
 */
#include "box.h"

#include <stdio.h>
#include <string.h>

/* In the box's own PATH; what the host has elsewhere does not count. */
static void need(const char *program)
{
	struct outcome o = box_sh("command -v %s", program);

	if (o.status != 0)
		e2e_skip("%s is not installed", program);
}

static void works(const char *want, const char *line)
{
	struct outcome o = box_sh("%s", line);

	CHECK(o.status == 0 && strstr(o.out, want),
	      "%s: status %d signal %d %s\n%s%s%s", line, o.status, o.signal,
	      o.reason, o.out, o.err, o.error);
}

static void case_112_git(void)
{
	box_raise(NULL, NULL);
	need("git");
	works("ok", "git add README src && git commit -qm first && echo ok");
	works("first", "git log --oneline");
	works("ok", "echo more >>README && git commit -qam second && "
	      "git diff HEAD~1 --stat && git status --short && echo ok");
	works("second", "git log -1 --format=%s");
	CHECK(host_exists(ws_path(".git/logs/HEAD")), "no commit on the host");
}

static void case_112_gcc_and_make(void)
{
	host_write(ws_path("Makefile"),
		   "prog: src/main.c\n\tcc -O2 -o $@ $<\n");
	box_raise(NULL, NULL);
	need("gcc");
	need("make");
	works("ok", "make -s && ./prog && echo ok");
}

static void case_112_address_sanitizer(void)
{
	host_write(ws_path("leak.c"),
		   "#include <stdlib.h>\n#include <stdio.h>\n"
		   "int main(int c, char **v) { char *p = malloc(10);\n"
		   "if (c > 1) { p[c + 9] = 1; } free(p);\n"
		   "puts(\"fine\"); return v == 0; }\n");
	box_raise(NULL, NULL);
	need("gcc");
	if (box_sh("gcc -g -fsanitize=address -o leak leak.c").status != 0)
		e2e_skip("libasan is not installed");
	/* LeakSanitizer traces its own threads at exit */
	works("fine", "./leak");
	struct outcome o = box_sh("./leak x");

	CHECK(o.status != 0 && strstr(o.err, "heap-buffer-overflow"),
	      "status %d: %s", o.status, o.err);
}

static void case_112_gdb(void)
{
	box_raise(NULL, NULL);
	need("gdb");
	works("exited with code 07",
	      "gdb -q -batch -ex run --args /attack/attacker do-exit 7 2>&1");
}

static void case_112_strace(void)
{
	box_raise(NULL, NULL);
	need("strace");
	works("exited with 0", "strace true 2>&1");
}

static void case_112_python_multiprocessing(void)
{
	host_write(ws_path("mp.py"),
		   "import multiprocessing as m\n"
		   "def f(x): return x * x\n"
		   "if __name__ == '__main__':\n"
		   "    for how in ('fork', 'spawn'):\n"
		   "        with m.get_context(how).Pool(2) as p:\n"
		   "            print(how, sum(p.map(f, range(10))))\n"
		   "    q = m.Queue(); q.put(1); print('queue', q.get())\n");
	box_raise(NULL, NULL);
	need("python3");
	works("fork 285\nspawn 285\nqueue 1", "python3 mp.py");
}

static void case_112_node_workers(void)
{
	host_write(ws_path("w.js"),
		   "const { Worker, isMainThread, parentPort } = "
		   "require('worker_threads');\n"
		   "if (isMainThread) { const w = new Worker(__filename);\n"
		   "w.on('message', (m) => console.log('got', m)); }\n"
		   "else parentPort.postMessage(42);\n");
	box_raise(NULL, NULL);
	need("node");
	works("got 42", "node w.js");
	works("child 0", "node -e \"require('child_process').execFile('true',"
	      "(e) => console.log('child', e ? 1 : 0))\"");
}

static void case_112_npm(void)
{
	host_write(ws_path("package.json"),
		   "{\"name\":\"x\",\"version\":\"1.0.0\","
		   "\"scripts\":{\"test\":\"echo ran\"}}\n");
	box_raise(NULL, NULL);
	need("npm");
	works("ran", "npm test 2>&1");
	works("ok", "mkdir -p dep && echo '{\"name\":\"dep\",\"version\":"
	      "\"1.0.0\"}' >dep/package.json && npm install --offline "
	      "--no-audit --no-fund ./dep 2>&1 && echo ok");
}

static void case_112_ssh_client(void)
{
	box_raise(NULL, NULL);
	need("ssh");
	works("OpenSSH", "ssh -V 2>&1");
	works("ok", "ssh-keygen -q -t ed25519 -N '' -f /tmp/key && echo ok");
}

static void case_112_everyday_tools(void)
{
	box_raise(NULL, NULL);
	works("main.c", "tar cf /tmp/x.tar src && tar tf /tmp/x.tar");
	works("ok", "cp -a src src2 && mv src2 src3 && rm -r src3 && echo ok");
	works("3", "printf 'a\\nb\\nc\\n' | sort | uniq | wc -l");
	works("ok", "cat <<X >/dev/null\nhere\nX\necho ok");
	works("agent", "id -un");
	works("/home/agent", "cd ~ && touch x && pwd");
	works("ok", "perl -e 'print qq(ok\\n)' 2>/dev/null || echo ok");
	works("ok", "date >/dev/null && uname -a >/dev/null && ps >/dev/null "
	      "2>&1; echo ok");
}

/* sudo and su stay refused: that is meant. */
static void case_112_privilege_tools_stay_refused(void)
{
	box_raise(NULL, NULL);
	need("su");
	CHECK(box_sh("su -c true </dev/null").status != 0, "su works");
}

int main(int argc, char **argv)
{
	static const struct e2e_case cases[] = {
		CASE(case_112_git),
		CASE(case_112_gcc_and_make),
		CASE(case_112_address_sanitizer),
		CASE(case_112_gdb),
		CASE(case_112_strace),
		CASE(case_112_python_multiprocessing),
		CASE(case_112_node_workers),
		CASE(case_112_npm),
		CASE(case_112_ssh_client),
		CASE(case_112_everyday_tools),
		CASE(case_112_privilege_tools_stay_refused),
		CASES_END,
	};

	return e2e_main(argc, argv, cases);
}
