/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The codec's refusals, and datagrams that are not what they announce. */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/attr.h"
#include "base/fd.h"
#include "base/limits.h"
#include "wire/codec.h"
#include "wire/message.h"

#include "abtest.h"

static int pair[2];

static void setup(void)
{
	ab_leak_setup();
	ck_assert_int_eq(ab_fd_seqpacket_pair(pair), 0);
}

static void teardown(void)
{
	ab_cleanup_fd(&pair[0]);
	ab_cleanup_fd(&pair[1]);
	ab_leak_teardown();
}

START_TEST(what_is_put_is_what_is_got)
{
	static const uint8_t want[] = {0x2a, 4, 3, 2, 1, 0xff, 0xff,
				       0xff, 0xff, 3, 0, 0, 0, 'h', 'i', 0};
	ab_writer w;
	ab_reader r;
	size_t n;

	ab_writer_init(&w, 1000);
	ab_put_u8(&w, 42);
	ab_put_u32(&w, 0x01020304);
	ab_put_i32(&w, -1);
	ab_put_str(&w, "hi");
	ck_assert_uint_eq(w.len, sizeof(want));
	ck_assert_mem_eq(w.data, want, sizeof(want));
	ab_put_u64(&w, UINT64_MAX - 1);
	ab_put_bytes(&w, "a\0b", 3);
	ab_put_bytes(&w, NULL, 0);
	ab_put_str(&w, "");
	ab_put_u32(&w, 1);
	ab_put_u8(&w, 7);
	ck_assert(!w.bad);
	ab_reader_init(&r, w.data, w.len);
	ck_assert_uint_eq(ab_get_u8(&r), 42);
	ck_assert_uint_eq(ab_get_u32(&r), 0x01020304);
	ck_assert_int_eq(ab_get_i32(&r), -1);
	ck_assert_str_eq(ab_get_str(&r), "hi");
	ck_assert_uint_eq(ab_get_u64(&r), UINT64_MAX - 1);
	ck_assert_mem_eq(ab_get_bytes(&r, &n), "a\0b", 3);
	ck_assert_uint_eq(n, 3);
	(void)ab_get_bytes(&r, &n);
	ck_assert_uint_eq(n, 0);
	ck_assert_str_eq(ab_get_str(&r), "");
	ck_assert_uint_eq(ab_get_count(&r, 1), 1);
	ck_assert(!ab_reader_done(&r));
	ck_assert_uint_eq(ab_get_u8(&r), 7);
	ck_assert(ab_reader_done(&r));
	ck_assert_uint_eq(ab_get_u8(&r), 0);
	ck_assert(!ab_reader_done(&r));
	ab_writer_end(&w);
	ab_put_u8(&w, 1);
	ck_assert(w.bad && !w.data);
}
END_TEST

START_TEST(a_writer_stops_at_its_maximum_for_good)
{
	uint8_t memory[6];
	ab_writer w;

	ab_writer_init_fixed(&w, memory, sizeof(memory));
	ab_put_u32(&w, 1);
	ab_put_u32(&w, 2);
	ck_assert(w.bad);
	ab_put_u8(&w, 3);
	ck_assert_uint_eq(w.len, 4);
	ab_writer_end(&w);
	ab_writer_init(&w, 300);
	ab_put_bytes(&w, memory, 6);
	for (int i = 0; i < 58; i++)
		ab_put_bytes(&w, "x", 1);
	ck_assert(!w.bad);
	ck_assert_uint_eq(w.len, 300);
	ab_put_u8(&w, 0);
	ck_assert(w.bad);
	ab_writer_end(&w);
	ab_writer_init(&w, 300);
	ab_put_str(&w, NULL);
	ck_assert(w.bad);
	ab_writer_end(&w);
	ab_writer_init(&w, 300);
	ab_put_bytes(&w, NULL, 1);
	ck_assert(w.bad);
	ab_writer_end(&w);
}
END_TEST

static const struct {
	const char *bytes;
	size_t n;
} bad_strings[] = {
	{"", 0},
	{"\1\0\0", 3},
	{"\0\0\0\0", 4},	       /* no NUL inside */
	{"\2\0\0\0ab", 6},	       /* no NUL at the end */
	{"\3\0\0\0a\0\0", 7},	       /* a NUL too many */
	{"\4\0\0\0abc", 7},	       /* shorter than it says */
	{"\377\377\377\377abc\0", 8},
};

START_TEST(a_malformed_string_is_empty_and_bad)
{
	ab_reader r;
	char *exact = malloc(bad_strings[_i].n + 1);

	memcpy(exact, bad_strings[_i].bytes, bad_strings[_i].n);
	ab_reader_init(&r, exact, bad_strings[_i].n);
	ck_assert_str_eq(ab_get_str(&r), "");
	ck_assert(r.bad);
	ck_assert(!ab_reader_done(&r));
	ck_assert_uint_eq(ab_get_u32(&r), 0);
	free(exact);
}
END_TEST

START_TEST(a_count_may_not_promise_more_than_there_is)
{
	ab_reader r;

	ab_reader_init(&r, "\2\0\0\0xx", 6);
	ck_assert_uint_eq(ab_get_count(&r, 2), 2);
	ab_reader_init(&r, "\2\0\0\0xx", 6);
	ck_assert_uint_eq(ab_get_count(&r, 1), 0);
	ck_assert(r.bad);
	ab_reader_init(&r, "\2\0\0\0x", 5);
	ck_assert_uint_eq(ab_get_count(&r, 9), 0);
	ck_assert(r.bad);
	ab_reader_init(&r, NULL, 5);
	ck_assert(r.bad);
	ab_reader_init(&r, NULL, 0);
	ck_assert(ab_reader_done(&r));
}
END_TEST

static size_t header(uint8_t *m, uint32_t kind, uint32_t fds)
{
	ab_writer w;

	ab_writer_init_fixed(&w, m, AB_MESSAGE_HEADER);
	ab_put_u32(&w, kind);
	ab_put_u32(&w, fds);
	return w.len;
}

START_TEST(a_message_arrives_with_its_fds)
{
	uint8_t m[64], in[64];
	int fds[2], got[2] = {-1, -1};
	size_t n = header(m, 5, 2), count = 9;

	fds[0] = fds[1] = pair[0];
	ck_assert_int_eq(ab_message_send(pair[0], m, n, fds, 2, 0), 0);
	ck_assert_int_eq(ab_message_recv(pair[1], in, sizeof(in), got, 2,
					 &count, 0), (int)n);
	ck_assert_uint_eq(count, 2);
	ck_assert_mem_eq(in, m, n);
	ck_assert(fcntl(got[0], F_GETFD) & fcntl(got[1], F_GETFD) &
		  FD_CLOEXEC);
	close(got[0]);
	close(got[1]);
	ck_assert_int_eq(ab_message_recv(pair[1], in, sizeof(in), got, 2,
					 &count, MSG_DONTWAIT), -EAGAIN);
	close(ab_steal_fd(&pair[0]));
	ck_assert_int_eq(ab_message_recv(pair[1], in, sizeof(in), got, 2,
					 &count, 0), 0);
	ck_assert_int_eq(ab_message_send(pair[1], m, header(m, 5, 0), NULL, 0,
					 0), -EPIPE);
}
END_TEST

START_TEST(the_last_words_of_a_dead_peer_are_heard)
{
	uint8_t m[64], in[64];
	size_t n = header(m, 5, 0), count;

	/* unread data at the peer's end makes the kernel say ECONNRESET */
	ck_assert_int_eq(ab_message_send(pair[1], m, n, NULL, 0, 0), 0);
	ck_assert_int_eq(ab_message_send(pair[0], m, n, NULL, 0, 0), 0);
	close(ab_steal_fd(&pair[0]));
	ck_assert_int_eq(ab_message_recv(pair[1], in, sizeof(in), NULL, 0,
					 &count, 0), (int)n);
	ck_assert_int_eq(ab_message_recv(pair[1], in, sizeof(in), NULL, 0,
					 &count, 0), 0);
}
END_TEST

START_TEST(a_sender_may_not_send_what_a_receiver_would_refuse)
{
	static uint8_t big[AB_MAX_MESSAGE + 1];
	uint8_t m[64];
	size_t n = header(m, 5, 1);
	int fds[AB_MAX_MESSAGE_FDS + 1] = {0};

	ck_assert_int_eq(ab_message_send(pair[0], m, 7, NULL, 0, 0), -EINVAL);
	ck_assert_int_eq(ab_message_send(pair[0], m, n, NULL, 0, 0), -EINVAL);
	ck_assert_int_eq(ab_message_send(pair[0], m, n, fds, 1, MSG_OOB),
			 -EINVAL);
	header(m, 5, AB_MAX_MESSAGE_FDS + 1);
	ck_assert_int_eq(ab_message_send(pair[0], m, n, fds,
					 AB_MAX_MESSAGE_FDS + 1, 0), -EINVAL);
	ck_assert_int_eq(ab_message_send(pair[0], big, sizeof(big), NULL, 0,
					 0), -EMSGSIZE);
	ck_assert_int_eq(ab_message_send_hello(pair[0], NULL, "x", 0),
			 -EINVAL);
}
END_TEST

/* As a hostile peer would: any bytes, any number of fds. */
static void send_raw(const void *p, size_t n, size_t fd_count)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(253 * sizeof(int))];
	struct iovec iov = {.iov_base = (void *)(uintptr_t)p, .iov_len = n};
	struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};

	memset(control, 0, sizeof(control));
	if (fd_count) {
		struct cmsghdr *c;

		msg.msg_control = control;
		msg.msg_controllen = CMSG_SPACE(fd_count * sizeof(int));
		c = CMSG_FIRSTHDR(&msg);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(fd_count * sizeof(int));
		for (size_t i = 0; i < fd_count; i++)
			memcpy(CMSG_DATA(c) + i * sizeof(int), &pair[0],
			       sizeof(int));
	}
	ck_assert_int_eq(sendmsg(pair[0], &msg, MSG_NOSIGNAL), (int)n);
}

static const struct {
	uint32_t announced;
	size_t sent, taken, n, size;
} bad_messages[] = {
	{0, 1, 4, 8, 64},     /* an fd too many */
	{2, 1, 4, 8, 64},     /* one missing */
	{1, 0, 4, 8, 64},     /* none at all */
	{2, 2, 1, 8, 64},     /* more than the receiver takes */
	{1, 1, 0, 8, 64},     /* it takes none */
	{0, 0, 4, 7, 64},     /* no room for the header */
	{1, 1, 4, 1, 64},     /* the same with an fd */
	{0, 0, 4, 65, 64},    /* longer than the buffer */
	{1, 1, 4, 65, 64},
	{200, 200, 64, 8, 64}, /* past every bound: MSG_CTRUNC */
	{253, 253, 64, 8, 64},
};

START_TEST(a_message_that_is_not_what_it_says_leaves_no_fd)
{
	uint8_t m[128] = {0}, in[64];
	int fds[64] = {-1};
	size_t count = 77;

	header(m, 5, bad_messages[_i].announced);
	send_raw(m, bad_messages[_i].n, bad_messages[_i].sent);
	ck_assert_int_eq(ab_message_recv(pair[1], in, bad_messages[_i].size,
					 fds, bad_messages[_i].taken, &count,
					 0), -EPROTO);
	ck_assert_int_eq(fds[0], -1);
	ck_assert_uint_eq(count, 77);
}
END_TEST

START_TEST(an_empty_datagram_with_an_fd_is_refused)
{
	uint8_t in[64];
	size_t count = 7;
	int fd = -1;

	send_raw("", 0, 1);
	ck_assert_int_eq(ab_message_recv(pair[1], in, sizeof(in), &fd, 1,
					 &count, 0), -EPROTO);
	send_raw("", 0, 0);
	ck_assert_int_eq(ab_message_recv(pair[1], in, sizeof(in), &fd, 1,
					 &count, 0), 0);
}
END_TEST

START_TEST(control_data_nobody_asked_for_is_refused)
{
	uint8_t m[64], in[64];
	size_t n = header(m, 5, 1), count = 7;
	int fd = -1, on = 1;

	ck_assert_int_eq(setsockopt(pair[1], SOL_SOCKET, SO_PASSCRED, &on,
				    sizeof(on)), 0);
	send_raw(m, n, 1);
	ck_assert_int_eq(ab_message_recv(pair[1], in, sizeof(in), &fd, 1,
					 &count, 0), -EPROTO);
	ck_assert_int_eq(fd, -1);
	ck_assert_int_eq(ab_message_recv(pair[1], in, 4, &fd, 1, &count, 0),
			 -EINVAL);
	ck_assert_int_eq(ab_message_recv(pair[1], in, 64, &fd, 1, &count,
					 MSG_PEEK), -EINVAL);
}
END_TEST

START_TEST(received_fds_avoid_the_standard_streams_of_a_bare_host)
{
	uint8_t m[64], in[64];
	size_t n = header(m, 5, 1), count = 0;
	int saved, fd = -1;

	saved = fcntl(0, F_DUPFD_CLOEXEC, 100);
	close(0);
	ck_assert_int_eq(ab_message_send(pair[0], m, n, &pair[0], 1, 0), 0);
	ck_assert_int_eq(ab_message_recv(pair[1], in, sizeof(in), &fd, 1,
					 &count, 0), (int)n);
	ck_assert_int_ge(fd, 3);
	ck_assert(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	ck_assert_int_eq(fcntl(0, F_GETFD), -1);
	close(fd);
	dup2(saved, 0);
	close(saved);
}
END_TEST

static bool torture_writer(void *data)
{
	ab_writer w;
	bool good;

	(void)data;
	ab_writer_init(&w, 100000);
	for (int i = 0; i < 1000; i++)
		ab_put_str(&w, "0123456789");
	good = !w.bad;
	ab_writer_end(&w);
	return good;
}

START_TEST(every_failed_allocation_makes_a_writer_bad)
{
	uint64_t tolerated = 0;

	if (!ab_torture_available())
		return;
	ck_assert_uint_ge(ab_torture(torture_writer, NULL, 100, &tolerated),
			  4);
	ck_assert_uint_eq(tolerated, 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("wire");
	TCase *tc = tcase_create("wire");
	SRunner *sr = srunner_create(s);
	int failed;

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, what_is_put_is_what_is_got);
	tcase_add_test(tc, a_writer_stops_at_its_maximum_for_good);
	tcase_add_loop_test(tc, a_malformed_string_is_empty_and_bad, 0,
			    AB_ARRAY_LEN(bad_strings));
	tcase_add_test(tc, a_count_may_not_promise_more_than_there_is);
	tcase_add_test(tc, a_message_arrives_with_its_fds);
	tcase_add_test(tc, the_last_words_of_a_dead_peer_are_heard);
	tcase_add_test(tc, a_sender_may_not_send_what_a_receiver_would_refuse);
	tcase_add_loop_test(tc, a_message_that_is_not_what_it_says_leaves_no_fd,
			    0, AB_ARRAY_LEN(bad_messages));
	tcase_add_test(tc, an_empty_datagram_with_an_fd_is_refused);
	tcase_add_test(tc, control_data_nobody_asked_for_is_refused);
	tcase_add_test(tc,
		       received_fds_avoid_the_standard_streams_of_a_bare_host);
	tcase_add_test(tc, every_failed_allocation_makes_a_writer_bad);
	suite_add_tcase(s, tc);
	srunner_run_all(sr, CK_NORMAL);
	failed = srunner_ntests_failed(sr);
	srunner_free(sr);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
