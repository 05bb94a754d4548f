#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A second verifier of the audit format that shares no code with the first.

usage: audit-check.py VECTORS LOG LAST_SEQ_BEFORE_HEAD
Checks every canonical vector, then the chain of a log: one canonical object
per line, consecutive seq, prev = SHA-256 of the line before. With PyNaCl
present it checks the signatures of the heads as well.
"""

import hashlib
import json
import sys


def canonical(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def check_vectors(path):
    with open(path, encoding="ascii") as rows:
        for row in rows:
            row = json.loads(row)
            text = canonical(row["in"])
            assert text == row["text"], text
            digest = hashlib.sha256(text.encode("ascii")).hexdigest()
            assert digest == row["sha256"], text


def check_head(line, log):
    try:
        from nacl.signing import VerifyKey
    except ImportError:
        return
    zeroed = line.replace(log["sig"].encode(), b"0" * 128)
    digest = hashlib.sha256(b"agentbox audit head 1\n" + zeroed).digest()
    VerifyKey(bytes.fromhex(log["key"])).verify(digest,
                                                bytes.fromhex(log["sig"]))


def check_log(path, last):
    prev, key, seq = "0" * 64, None, 0
    with open(path, "rb") as lines:
        for line in lines:
            assert line.endswith(b"\n")
            line = line[:-1]
            record = json.loads(line)
            assert canonical(record).encode("ascii") == line, line
            seq += 1
            assert record["seq"] == seq and record["prev"] == prev, line
            log = record.get("log", {})
            if record["type"] == "audit.head":
                assert log["key"] == key, line
                check_head(line, log)
                key = log["next"]
            elif "key" in log:
                key = log["key"]
            prev = hashlib.sha256(line).hexdigest()
    assert seq == last + 1, seq


if __name__ == "__main__":
    check_vectors(sys.argv[1])
    check_log(sys.argv[2], int(sys.argv[3]))
