// SPDX-License-Identifier: LGPL-2.1-or-later
// The public interface from C++: a policy, a box, two commands.
#include <agentbox/agentbox.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include <unistd.h>

namespace {

// By address: the order in which arguments are evaluated is not defined.
void must(int32_t rc, agentbox_error **error)
{
	agentbox_error *err = *error;

	if (rc == 0)
		return;
	const std::string text = std::string(agentbox_error_get_where(err)) +
				 ": " + agentbox_error_get_message(err);

	agentbox_error_free(err);
	std::printf("%s%s\n",
		    rc == AGENTBOX_EWALL ? "no box can be raised here: " : "",
		    text.c_str());
	std::exit(rc == AGENTBOX_EWALL ? 77 : 1);
}

void expect(const char *what, bool good)
{
	if (good)
		return;
	std::printf("wrong: %s\n", what);
	std::exit(1);
}

agentbox_command *command(const char *const *argv, size_t argc)
{
	agentbox_command *made = NULL;
	agentbox_error *err = NULL;

	must(agentbox_command_new(argv, argc, &made, &err), &err);
	return made;
}

void over_a_pipe(agentbox_sandbox *box)
{
	static const char *const argv[] = { "/bin/sh", "-c",
					    "echo spawned; exit 3" };
	agentbox_command *made = command(argv, 3);
	agentbox_process *process = NULL;
	agentbox_error *err = NULL;
	char text[64];
	int fds[2];

	expect("a pipe", pipe(fds) == 0);
	must(agentbox_command_set_fd(made, 1, fds[1], &err), &err);
	must(agentbox_sandbox_spawn(box, made, &process, &err), &err);
	close(fds[1]);
	agentbox_command_free(made);
	const ssize_t n = read(fds[0], text, sizeof(text));
	expect("what was spawned said",
	       n == 8 && std::memcmp(text, "spawned\n", 8) == 0);
	close(fds[0]);
	must(agentbox_process_wait(process, 10000, &err), &err);
	expect("its status", agentbox_process_get_exit_status(process) == 3);
	expect("its reason",
	       std::string(agentbox_process_get_reason(process)) == "exited");
	agentbox_process_free(process);
}

void captured(agentbox_sandbox *box)
{
	static const char *const argv[] = { "cat", "file" };
	agentbox_command *made = command(argv, 2);
	agentbox_process *process = NULL;
	agentbox_bytes *out = NULL;
	agentbox_error *err = NULL;

	must(agentbox_sandbox_capture(box, made, 1 << 16, &process, &out, NULL,
				      &err),
	     &err);
	expect("what was captured",
	       std::string(agentbox_bytes_get_data(out),
			   agentbox_bytes_get_size(out)) ==
		       "from the workspace\n");
	expect("its status", agentbox_process_get_exit_status(process) == 0);
	agentbox_bytes_free(out);
	agentbox_process_free(process);
	agentbox_command_free(made);
}

agentbox_policy *policy_of(agentbox_context *context, const std::string &text)
{
	agentbox_policy *policy = NULL;
	agentbox_error *err = NULL;
	const std::string wrong = "{\"agentbox\":1,\"nonsense\":true}";

	expect("a wrong policy",
	       agentbox_policy_parse(context, wrong.data(), wrong.size(),
				     &policy, &err) == AGENTBOX_EPOLICY);
	expect("its place", std::string(agentbox_error_get_where(err))
				    .compare(0, 9, "/nonsense") == 0);
	agentbox_error_free(err);
	err = NULL;
	must(agentbox_policy_parse(context, text.data(), text.size(), &policy,
				   &err),
	     &err);
	return policy;
}

} // namespace

int main()
{
	const std::string tmp = std::getenv("TMPDIR");
	agentbox_context *context = NULL;
	agentbox_sandbox *box = NULL;
	agentbox_error *err = NULL;

	must(agentbox_context_new(&context, &err), &err);
	must(agentbox_context_set_helper_dir(
		     context, std::getenv("AB_TEST_HELPER_DIR"), &err),
	     &err);
	must(agentbox_context_set_state_dir(context, (tmp + "/state").c_str(),
					    &err),
	     &err);
	agentbox_policy *policy = policy_of(
		context, "{\"agentbox\":1,\"extends\":\"builtin:workspace\","
			 "\"require\":[],\"workspace\":{\"path\":\"" +
				 tmp + "/ws\"}}");
	must(agentbox_sandbox_new(context, policy, NULL, &box, &err), &err);
	over_a_pipe(box);
	captured(box);
	agentbox_sandbox_free(box);
	agentbox_policy_unref(policy);
	agentbox_context_unref(context);
	return 0;
}
