/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A process in a live reader's box opens shared files without pause while
 * the host refreshes the grant: no open fails, none sees the generation
 * before once it saw the next, no mount changes, and the exchange takes no
 * time. Between two refreshes the reader gets on, so no open and no reading
 * lasts over two of them, which would find what it holds emptied. A short
 * form runs in make check, ten thousand refreshes in make check-long. Rows 70
 * and 120 of the snapshot cases.
 */
#include "peers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef SWAPS
#define SWAPS 100u
#endif
#define OPENS 1000u /* between two refreshes */
#define SWAP_US 100
#define SECONDS (60 + SWAPS / 10)

static const char reader[] =
	"import os\n"
	"names=['a.c','src/a.c','src/deep/b.c','docs/plan.txt']\n"
	"told=os.open('count',os.O_RDWR|os.O_CREAT,0o644)\n"
	"opens=seen=0\n"
	"bad=[]\n"
	"while not os.path.exists('stop'):\n"
	"  for i in range(25):\n"
	"    for name in names:\n"
	"      try:\n"
	"        fd=os.open('.shared/code/'+name,os.O_RDONLY)\n"
	"        text=os.read(fd,64); os.close(fd)\n"
	"        if not text.endswith(b'\\n') or int(text)<seen:\n"
	"          bad.append('%s: %r after %d'%(name,text,seen))\n"
	"        seen=int(text)\n"
	"      except (OSError,ValueError) as e: bad.append(str(e))\n"
	"      opens+=1\n"
	"    try: names==sorted(os.listdir('.shared/code')) or \\\n"
	"      os.stat('.shared/code/src/deep')\n"
	"    except OSError as e: bad.append(str(e))\n"
	"  os.pwrite(told,b'%012d'%opens,0)\n"
	"open('result','w').write('%d failed: %s\\n'%(len(bad),bad[:5]))\n";

static void write_generation(unsigned n)
{
	static const char *const names[] = { "a.c", "src/a.c",
					     "src/deep/b.c", "docs/plan.txt" };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		host_write(host_path("peer/%s", names[i]),
			   e2e_text("%u\n", n));
}

static unsigned long opens(void)
{
	char text[16] = "";
	FILE *f = fopen(ws_path("count"), "re");

	if (f) {
		(void)!fread(text, 1, sizeof(text) - 1, f);
		fclose(f);
	}
	return strtoul(text, NULL, 10);
}

/* Until the reader got on by so many. */
static void wait_for_more(unsigned long more)
{
	unsigned long least = opens() + more;

	while (opens() < least)
		e2e_sleep_ms(1);
}

/* What the job itself says that the exchange took. */
static double swap_us(const char *id)
{
	agentbox_peer_job *job = NULL;
	agentbox_error *err = NULL;
	agentbox_bytes *json = NULL;
	const char *at;

	REQUIRE(agentbox_peering_refresh(peering, id, NULL, &job, &err) == 0 &&
			agentbox_peer_job_wait(job, 60000, &err) == 0,
		"refresh: %s", agentbox_error_get_message(err));
	REQUIRE(agentbox_snapshot_to_json(agentbox_peer_job_get_snapshot(job),
					  &json, &err) == 0,
		"%s", agentbox_error_get_message(err));
	at = strstr(agentbox_bytes_get_data(json), "\"swap_ns\":");
	REQUIRE(at, "%s", agentbox_bytes_get_data(json));
	double us = strtod(at + strlen("\"swap_ns\":"), NULL) / 1000;

	CHECK(us > 0, "nothing was exchanged");
	agentbox_bytes_free(json);
	agentbox_peer_job_free(job);
	return us;
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static const char *mounts(void)
{
	return e2e_text("%s", box_sh("cat /proc/self/mountinfo").out);
}

static void case_070_120_no_open_fails(void)
{
	static double us[SWAPS];
	const char *before;
	char *result;
	const char *id;

	if (!host_has("python3"))
		e2e_skip("python3 is not installed");
	e2e_seconds(SECONDS);
	peers_begin();
	write_generation(0);
	id = peers_grant("code");
	before = mounts();
	held = BOX_START(-1, "python3", "-c", reader);
	for (unsigned i = 0; i < SWAPS; i++) {
		wait_for_more(OPENS);
		write_generation(i + 1);
		us[i] = swap_us(id);
	}
	wait_for_more(OPENS);
	host_write(ws_path("stop"), "");
	CHECK(agentbox_process_wait(held, 60000, NULL) == 0, "it goes on");
	result = host_read(ws_path("result"));
	CHECK(result && strncmp(result, "0 failed:", 9) == 0, "%s",
	      result ? result : "no result");
	CHECK(strcmp(before, mounts()) == 0, "mounts: %s\nwere: %s", mounts(),
	      before);
	qsort(us, SWAPS, sizeof(*us), by_size);
	e2e_note("%lu opens, %u exchanges: median %.1f us, longest %.1f us",
		 opens(), SWAPS, us[SWAPS / 2], us[SWAPS - 1]);
	/* who is not on the processor meanwhile is in the longest ones */
	CHECK(us[SWAPS / 2] <= SWAP_US, "%.1f us", us[SWAPS / 2]);
	peers_finish();
}

int main(int argc, char **argv)
{
	static const struct e2e_case cases[] = {
		CASE(case_070_120_no_open_fails),
		CASES_END
	};

	e2e_most_seconds = SECONDS + 60;
	return e2e_main(argc, argv, cases);
}
