# SPDX-License-Identifier: LGPL-2.1-or-later
"""A model API on loopback, which the routes of a live box lead to: one name
or more of it, a certificate for these, and the secret that it wants."""

import route_lib
from gateway_lib import resolver
from route_lib import Authority, REAL, Upstream

HOST = "api.test"
secret_file = route_lib.write("secret", REAL + "\n")


class Model:
    """One request after the other, kept in `heads` and answered by
    `answer(peer, request)`, which says whether the connection goes on."""

    def __init__(self, name, *others):
        hosts = [HOST, *others]
        for host in hosts:
            resolver.names[host] = ["127.0.0.1"]
        self.authority = Authority(name)
        self.ca = self.authority.ca
        self.cert = self.authority.cert("api", ",".join("DNS:" + h
                                                        for h in hosts))
        self.heads = []
        self.up = Upstream(self.script, self.cert)
        self.port = self.up.port

    def script(self, peer):
        while True:
            request = peer.head()
            if not request:
                return
            self.heads.append(request)
            if not self.answer(peer, request):
                return

    def route(self, prefix, host=HOST, **more):
        return dict({"prefix": prefix, "preset": "anthropic",
                     "upstream": "https://%s:%d" % (host, self.port),
                     "ca": self.ca, "inject": {"secret": "key"}}, **more)


def take_body(peer, request):
    peer.exactly(int(request.get("content-length") or 0))
