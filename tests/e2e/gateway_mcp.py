#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""MCP over HTTP at a live gateway: refused by name, behind the key."""

from gateway_lib import client, policy
from tool_lib import box_test, expect, main


@box_test
def mcp_over_http_is_refused_by_name_and_only_to_who_has_the_key():
    ran = client(policy([]), """
def post(path, extra):
    s = dial()
    s.sendall(("POST " + path + " HTTP/1.1\\r\\nHost: 192.0.0.1:3128\\r\\n" +
               extra + "Content-Length: 2\\r\\n\\r\\n{}").encode())
    h = head(s)
    reason = [l for l in h.split("\\r\\n") if l.startswith("X-Agentbox")]
    print(path, h.split(" ")[1], reason[0].split(" ")[1])
key = "Authorization: Bearer " + KEY + "\\r\\n"
for path in ["/mcp", "/mcp/files", "/mcp?x=1"]:
    post(path, key)
post("/mcp/files", "")
post("/mcpx", key)
post("/", key)
""")
    expect(ran.out.splitlines() == [
        "/mcp 501 mcp_not_built", "/mcp/files 501 mcp_not_built",
        "/mcp?x=1 501 mcp_not_built", "/mcp/files 401 key",
        "/mcpx 404 no_route", "/ 404 no_route"], ran)
    r = ran.records("denied", "mcp_not_built")
    expect(len(r) == 3 and r[0]["how"] == "mcp", ran)


main()
