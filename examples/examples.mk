# SPDX-License-Identifier: LGPL-2.1-or-later
# Examples use only <agentbox/...>. They are built by make check and make demo:
#   EXTRA_PROGRAMS += examples/x
#   EXAMPLES += examples/x
#   examples_x_SOURCES = examples/x.c
#   examples_x_LDADD = $(PUBLIC_LIBS)
# DEMO += examples/demo/demo.sh   is what make demo runs (program or script).
# tests/ffi/examples.sh compiles them against an installation and runs them.

EXTRA_PROGRAMS += examples/hello examples/agent_loop examples/audited \
	examples/guard examples/peers examples/docs examples/types \
	examples/model examples/layers
EXAMPLES += examples/hello examples/agent_loop examples/audited examples/guard \
	examples/peers examples/docs examples/types examples/model \
	examples/layers
examples_hello_SOURCES = examples/hello.c
examples_hello_LDADD = $(PUBLIC_LIBS)
examples_agent_loop_SOURCES = examples/agent_loop.c
examples_agent_loop_LDADD = $(PUBLIC_LIBS)
examples_audited_SOURCES = examples/audited.c
examples_audited_LDADD = $(PUBLIC_LIBS)
examples_guard_SOURCES = examples/guard.c
examples_guard_LDADD = $(PUBLIC_LIBS)
examples_peers_SOURCES = examples/peers.c
examples_peers_LDADD = $(PUBLIC_LIBS)
examples_docs_SOURCES = examples/docs.c
examples_docs_LDADD = $(PUBLIC_LIBS)
examples_types_SOURCES = examples/types.c
examples_types_LDADD = $(PUBLIC_LIBS)
examples_layers_SOURCES = examples/layers.c
examples_layers_LDADD = $(PUBLIC_LIBS)
# examples/model.py has a model for it on loopback.
examples_model_SOURCES = examples/model.c
examples_model_LDADD = $(PUBLIC_LIBS)

# examples/demo/intruder.c is compiled in the box, by the demo.
EXTRA_PROGRAMS += examples/demo/demo
EXAMPLES += examples/demo/demo
DEMO += examples/demo/demo.sh
examples_demo_demo_SOURCES = \
	examples/demo/attacks.c \
	examples/demo/demo.c \
	examples/demo/demo.h \
	examples/demo/facts.c \
	examples/demo/screen.c
examples_demo_demo_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
examples_demo_demo_LDADD = $(PUBLIC_LIBS) $(JANSSON_LIBS)
