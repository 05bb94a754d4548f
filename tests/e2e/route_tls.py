#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""An upstream that cannot be verified is not spoken to: no byte of a request
leaves, no credential, and the reason has a name. Gateway cases 64, 65."""

import os
import ssl
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from route_lib import (Authority, Gateway, Upstream, ask, equal, expect, head,
                       main, refused, test, write)

good = Authority("good")
other = Authority("other")


def echo(peer):
    while peer.head():
        peer.answer(b"hello")


def route(port, host="api.test", ca=None, **more):
    return dict({"prefix": "/r", "ca": ca or good.ca,
                 "upstream": "https://%s:%d" % (host, port),
                 "inject": {"secret": "k"}}, **more)


def served(cert, host="api.test", ca=None, **options):
    """A good connection; how the upstream saw it."""
    seen = []

    def script(peer):
        while peer.head():
            seen.append((peer.conn.version(),
                         peer.conn.selected_alpn_protocol(),
                         peer.conn.session_reused))
            peer.answer(b"hello", fields="Connection: close\r\n")
            return

    up = Upstream(script, cert, **options)
    gw = Gateway([route(up.port, host, ca)])
    for _ in range(2):
        equal(ask(gw, head("GET /r/x")).body, b"hello")
    gw.close()
    up.close()
    return seen


def refuses(cert, reason, *words, host="api.test", ca=None, script=echo,
            plain=False, **options):
    """502 with this reason, and nothing was ever sent inside TLS."""
    told = []

    def listen(peer):
        told.append(peer.more())

    up = Upstream(script if plain else listen, cert, plain, **options)
    gw = Gateway([route(up.port, host, ca)])
    answer = refused(ask(gw, head("GET /r/x")), 502, reason)
    for word in words:
        expect(word.encode() in answer.body, answer.body)
    gw.record("failed route %s:%d %s" % (host, up.port, reason))
    expect(not any(told), told)
    gw.close()
    up.close()


@test
def a_good_certificate_is_believed_with_tls_1_2_and_1_3():
    cert = good.cert("api", "DNS:api.test")
    V = ssl.TLSVersion
    equal(served(cert, minimum_version=V.TLSv1_3),
          [("TLSv1.3", None, False)] * 2)
    equal(served(cert, maximum_version=V.TLSv1_2),
          [("TLSv1.2", None, False)] * 2)


@test
def http_1_1_is_what_is_asked_for():
    cert = good.cert("api", "DNS:api.test")
    equal(served(cert, alpn=["h2", "http/1.1"]),
          [("TLSv1.3", "http/1.1", False)] * 2)


@test
def wildcards_and_addresses_of_certificates_count():
    served(good.cert("wild", "DNS:*.api.test"), host="x.api.test")
    served(good.cert("ip", "IP:127.0.0.9"), host="127.0.0.9")
    served(good.cert("many", "DNS:x.test,DNS:API.test"))


@test
def a_name_is_asked_for_and_an_address_is_not():
    names = []

    def remember(_socket, name, _context):
        names.append(name)

    for host, alt in (("api.test", "DNS:api.test"),
                      ("127.0.0.9", "IP:127.0.0.9")):
        up = Upstream(echo, good.cert("sni", alt), sni_callback=remember)
        gw = Gateway([route(up.port, host)])
        equal(ask(gw, head("GET /r/x")).body, b"hello")
        gw.close()
        up.close()
    equal(names, ["api.test", None])


@test
def another_name_is_refused():
    for alt in ("DNS:evil.test", "DNS:test", "DNS:*.api.test",
                "DNS:xapi.test", "DNS:api.test.evil.test", "DNS:a*.test",
                "IP:127.0.0.1", "email:api@api.test", "DNS:*"):
        refuses(good.cert("evil", alt), "tls_name", "api.test")
    refuses(good.cert("evil", "DNS:127.0.0.9"), "tls_name",
            host="127.0.0.9")


@test
def a_common_name_is_no_name():
    # /CN=x stands in every certificate here; without subjectAltName, too
    refuses(good.cert("cn", "email:a@b.test"), "tls_name", host="x.test")


@test
def an_expired_certificate_is_refused_with_its_date():
    cert = good.cert("old", "DNS:api.test", "20200101000000Z",
                     "20210203000000Z")
    refuses(cert, "tls_expired",
            'the certificate of "api.test" expired on 2021-02-03')


@test
def one_of_the_future_is_refused_with_its_date():
    cert = good.cert("new", "DNS:api.test", "20900101000000Z",
                     "20910101000000Z")
    refuses(cert, "tls_not_yet", "valid only from 2090-01-01")


@test
def another_authority_is_not_trusted():
    refuses(other.cert("api", "DNS:api.test"), "tls_untrusted")
    # itself its authority
    refuses((good.ca, good.key), "tls_untrusted", ca=other.ca)


@test
def the_systems_authorities_are_not_those_of_the_route():
    up = Upstream(echo, good.cert("api", "DNS:api.test"))
    plain = route(up.port)
    del plain["ca"]
    gw = Gateway([plain])
    refused(ask(gw, head("GET /r/x")), 502, "tls_untrusted")
    gw.close()
    up.close()


@test
def what_is_no_tls_is_refused():
    cert = good.cert("api", "DNS:api.test")
    for text in (b"HTTP/1.1 400 Bad Request\r\n\r\n", b"SSH-2.0-x\r\n",
                 b"220 mail.test ESMTP\r\n"):
        def script(peer):
            peer.send(text)
            while peer.more():
                pass

        refuses(cert, "tls_none", "speaks no TLS", script=script, plain=True)


@test
def an_end_in_the_handshake_is_named():
    refuses(good.cert("api", "DNS:api.test"), "tls_cut",
            script=lambda peer: peer.more(), plain=True)


@test
def old_versions_are_refused():
    cert = good.cert("api", "DNS:api.test")
    refuses(cert, "tls_version", "neither TLS 1.2 nor 1.3",
            minimum_version=ssl.TLSVersion.TLSv1,
            maximum_version=ssl.TLSVersion.TLSv1_1,
            ciphers="ALL:@SECLEVEL=0")


@test
def a_route_whose_roots_cannot_be_read_does_not_start():
    import subprocess
    from route_lib import KEY, PROGRAM
    import json
    for text in ("", "no certificate", "-----BEGIN CERTIFICATE-----\nAAAA\n"
                 "-----END CERTIFICATE-----\n"):
        policy = {"agentbox": 1, "secrets": [{"name": "k"}],
                  "routes": [route(1, ca=write("bad.pem", text))]}
        p = subprocess.run([PROGRAM, write("p.json", json.dumps(policy)),
                            KEY], stdin=subprocess.DEVNULL,
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        equal(p.returncode, 2)
        expect(b"certificate" in p.stderr, p.stderr)


main()
