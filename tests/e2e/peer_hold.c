/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a reader's processes hold of a grant when it is revoked: after the
 * call has returned, nothing new is read by any of the ways in `holder`, of
 * the last generation or of one before. And what another reader has of the
 * same source stays. Rows 109, 110 and 116 of the snapshot cases.
 */
#include "peers.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/*
 * One line for each way: its name, and what it got. Everything is opened
 * before and read after, in a child each, for a mapping ends who reads it.
 */
static const char holder[] =
	"import mmap,os,socket,sys,time\n"
	"ways={}\n"
	"def wait(name):\n"
	"  while not os.path.exists(name): time.sleep(0.005)\n"
	"def opened(path,flags=os.O_RDONLY): return os.open(path,flags)\n"
	"def mapping(path,flags):\n"
	"  return mmap.mmap(opened(path),0,flags,mmap.PROT_READ)\n"
	"def hold(tag,base):\n"
	"  def way(name):\n"
	"    return lambda f: ways.__setitem__(tag+name,f)\n"
	"  for name in 'same.c','src/a.c':\n"
	"    path=base+name; short=name[-3:-2]\n"
	"    fd=opened(path)\n"
	"    way('read '+short)(lambda fd=fd: os.read(fd,99))\n"
	"    part=opened(path); os.read(part,5)\n"
	"    way('rest '+short)(lambda fd=part: os.read(fd,99))\n"
	"    ahead=opened(path)\n"
	"    os.posix_fadvise(ahead,0,0,os.POSIX_FADV_WILLNEED)\n"
	"    way('readahead '+short)(lambda fd=ahead: os.pread(fd,99,100))\n"
	"    copy=os.dup(opened(path))\n"
	"    way('dup '+short)(lambda fd=copy: os.read(fd,99))\n"
	"    loose=opened(path,os.O_PATH)\n"
	"    for what,n in (('again',fd),('path',loose)):\n"
	"      way(what+' '+short)(lambda n=n:\n"
	"        os.read(os.open('/proc/self/fd/%d'%n,os.O_RDONLY),99))\n"
	"    def send(fd=fd):\n"
	"      r,w=os.pipe(); os.sendfile(w,fd,0,99); os.close(w)\n"
	"      return os.read(r,99)\n"
	"    way('sendfile '+short)(send)\n"
	"    r,w=os.pipe(); os.splice(fd,w,10,offset_src=0); os.read(r,10)\n"
	"    os.set_blocking(r,False)\n"
	"    def spliced(fd=fd,r=r,w=w):\n"
	"      os.splice(fd,w,99,offset_src=10)\n"
	"      return os.read(r,99)\n"
	"    way('splice '+short)(spliced)\n"
	"    for what,flags in (('shared',mmap.MAP_SHARED),\n"
	"        ('private',mmap.MAP_PRIVATE),\n"
	"        ('populated',mmap.MAP_SHARED|mmap.MAP_POPULATE),\n"
	"        ('own',mmap.MAP_PRIVATE|mmap.MAP_POPULATE)):\n"
	"      m=mapping(path,flags)\n"
	"      way('map '+what+' '+short)(lambda m=m: m[:99])\n"
	"    touched=mapping(path,mmap.MAP_SHARED); touched[0]\n"
	"    way('map touched '+short)(lambda m=touched: m[1:99])\n"
	"  top=opened(base); sub=opened(base+'src',os.O_PATH)\n"
	"  way('list')(lambda: ''.join(os.listdir(top)).encode())\n"
	"  way('below')(lambda: os.read(os.open('same.c',0,dir_fd=top),99))\n"
	"  way('beside')(lambda: os.read(os.open('a.c',0,dir_fd=sub),99))\n"
	"  way('above')(lambda:\n"
	"    os.read(os.open('../same.c',0,dir_fd=sub),99))\n"
	"def tell(out,name,f):\n"
	"  pid=os.fork()\n"
	"  if pid==0:\n"
	"    try: got=f()\n"
	"    except OSError as e: got=b''\n"
	"    text='%s: %r\\n'%(name,got[:20]) if got else ''\n"
	"    os.write(out,text.encode())\n"
	"    os._exit(0)\n"
	"  os.waitpid(pid,0)\n"
	/* another process, with descriptors that it was sent, and a cwd */
	"def other(name):\n"
	"  a,b=socket.socketpair()\n"
	"  pid=os.fork()\n"
	"  if pid==0:\n"
	"    m,fds,_,_=socket.recv_fds(b,9,3)\n"
	"    os.chdir('.shared/code/src'); os.write(b.fileno(),b'x')\n"
	"    wait('/tmp/go')\n"
	"    out=os.open('/tmp/out',os.O_WRONLY|os.O_APPEND)\n"
	"    tell(out,'sent',lambda: os.pread(fds[0],99,0))\n"
	"    tell(out,'sent directory',\n"
	"      lambda: os.read(os.open('same.c',0,dir_fd=fds[1]),99))\n"
	"    tell(out,'cwd',lambda: os.read(os.open('a.c',0),99))\n"
	"    tell(out,'cwd up',lambda: os.read(os.open('../same.c',0),99))\n"
	"    os._exit(0)\n"
	"  fd=opened('.shared/code/src/a.c'); d=opened('.shared/code')\n"
	"  socket.send_fds(a,[b'x'],[fd,d]); os.close(fd); os.close(d)\n"
	"  a.recv(1)\n"
	"  return pid\n"
	"hold('before ','.shared/code/')\n"
	"open('/tmp/first','w')\n"
	"wait('/tmp/second')\n"
	"hold('','.shared/code/')\n"
	"out=os.open('/tmp/out',os.O_WRONLY|os.O_CREAT|os.O_APPEND)\n"
	"pid=other('a')\n"
	"open('/tmp/in','w')\n"
	"wait('/tmp/go')\n"
	"os.waitpid(pid,0)\n"
	"for name in ways: tell(out,name,ways[name])\n"
	"os.write(out,b'%d ways\\n'%len(ways))\n"
	"open('/tmp/done','w')\n";

/* `same.c` is one inode in all generations, `a.c` another in each. */
static void write_source(int generation)
{
	char text[20000];

	if (generation == 0) {
		memset(text, 's', sizeof(text) - 1);
		text[sizeof(text) - 1] = '\0';
		host_write(host_path("peer/same.c"), text);
	}
	memset(text, 'a' + generation, sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	host_write(host_path("peer/src/a.c"), text);
}

static void await(const char *name)
{
	struct outcome o = box_sh("while [ ! -e %s ] && [ ! -s /tmp/err ]; do "
				  "sleep 0.01; done; cat /tmp/err", name);

	REQUIRE(!*o.out, "waited for %s: %s", name, o.out);
}

/* Everything held in two generations; the id of the grant. */
static const char *grant_and_hold(void)
{
	const char *id;

	if (!host_has("python3"))
		e2e_skip("python3 is not installed");
	e2e_seconds(60);
	peers_begin();
	write_source(0);
	id = peers_grant("code");
	held = BOX_START(-1, "sh", "-c", "exec python3 -c \"$1\" 2>/tmp/err",
			 "sh", holder);
	await("/tmp/first");
	for (int i = 1; i < 3; i++) {
		write_source(i);
		peers_refresh(id);
	}
	box_sh(": >/tmp/second");
	await("/tmp/in");
	return id;
}

static struct outcome what_was_read(void)
{
	struct outcome o;

	box_sh(": >/tmp/go");
	await("/tmp/done");
	o = box_sh("cat /tmp/out /tmp/err");
	return o;
}

static void case_110_nothing_new_is_read_by_any_way(void)
{
	const char *id = grant_and_hold();
	struct outcome o;

	peers_end_grant(id, NULL);
	o = what_was_read();
	CHECK(strcmp(o.out, "60 ways\n") == 0, "%s%s", o.out, o.err);
	peers_finish();
}

/*
 * The ways are ways: what was only taken from its place is read by those that
 * need no name, and what a refresh has replaced twice is read by none.
 */
static void case_109_by_the_same_ways_what_was_detached_is_read(void)
{
	const char *id = grant_and_hold();
	struct outcome o;
	size_t lines = 0;

	peers_end_grant(id, "detach");
	o = what_was_read();
	for (const char *at = o.out; (at = strchr(at, '\n')); at++)
		lines++;
	CHECK(lines == 3 * 13 + 2, "%zu\n%s%s", lines, o.out, o.err);
	CHECK(strstr(o.out, "map touched a: b'cccc"), "%s", o.out);
	CHECK(!strstr(o.out, "b'aaaa") && !strstr(o.out, "b'bbbb"), "%s",
	      o.out);
	peers_finish();
}

/* A third box, which reads the same source. */
static agentbox_sandbox *raise_third(void)
{
	char *where, *message;
	int32_t code;
	agentbox_sandbox *s;

	box_needs_namespaces();
	host_mkdir(host_path("third"));
	s = box_try(e2e_text("{\"agentbox\":1,\"extends\":"
			     "\"builtin:workspace\"," PEERS_READ ","
			     "\"workspace\":{\"path\":\"%s\",\"at\":"
			     "\"/workspace\"}}", host_path("third")),
		    &code, &where, &message);
	REQUIRE(s, "the third: %s", message);
	return s;
}

/* Each has inodes of its own, and sees its own. */
static void case_116_another_readers_grant_stays(void)
{
	agentbox_peer_job *job = NULL;
	agentbox_sandbox *third = raise_third();
	struct outcome o;
	const char *id;
	char *message;

	peers_begin();
	REQUIRE(agentbox_peering_add(peering, third, "third", NULL) == 0,
		"add");
	id = peers_grant("code");
	REQUIRE(agentbox_peering_grant(peering, "third", "writer", "other",
				       NULL, &job, NULL) == 0, "grant");
	REQUIRE(peers_ended(job, &message) == 0, "granted: %s", message);
	o = box_sh("ls -A .shared; ls /workspace/../third");
	CHECK(strcmp(o.out, "code\n") == 0, "seen: %s", o.out);
	peers_end_grant(id, NULL);
	o = box_run_in(third, (const char *const[]){ "sh", "-c",
		       "ls -A .shared; cat .shared/other/src/a.c", NULL });
	CHECK(strcmp(o.out, "other\none\n") == 0, "left: %s%s", o.out, o.err);
	CHECK(agentbox_peering_remove(peering, third, NULL) == 0, "remove");
	agentbox_sandbox_free(third);
	peers_finish();
}

int main(int argc, char **argv)
{
	static const struct e2e_case cases[] = {
		CASE(case_110_nothing_new_is_read_by_any_way),
		CASE(case_109_by_the_same_ways_what_was_detached_is_read),
		CASE(case_116_another_readers_grant_stays),
		CASES_END
	};

	return e2e_main(argc, argv, cases);
}
