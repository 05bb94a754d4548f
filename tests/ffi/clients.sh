#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# wget, pip, npm, Node, Go and Java in a box with a gateway, each as it is: what is
# allowed works, the rest fails at once. What the origin serves, and curl, git
# and Python's urllib: tests/e2e/gateway_clients.py.
exec python3 "$AB_TEST_SRCDIR/tests/e2e/gateway_clients.py" more
