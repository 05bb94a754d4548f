/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The built-in policies. Each is a JSON document, written here as JSON and
 * turned into text by the preprocessor; it goes through the same parser as
 * anybody's. What they never mount: "/", /run, /tmp, a home, the state
 * directory, and of /etc only files without secrets (passwd and group are
 * made by the box). This file includes nothing, because <stdbool.h> would
 * turn `true` into 1. Spec: DESIGN.md section 5, agentbox-policy(5).
 */
#include "config.h"

#include "policy/builtins.h"

#define TEXT(...) #__VA_ARGS__
#define JSON(...) TEXT(__VA_ARGS__)

#define PROGRAMS(path) \
	{ "from": path, "to": path, "access": "read", "exec": true, \
	  "optional": true }
#define DATA(path) \
	{ "from": path, "to": path, "access": "read", "optional": true }

#define SYSTEM_MOUNTS                                               \
	PROGRAMS("/usr"), PROGRAMS("/bin"), PROGRAMS("/sbin"),      \
	PROGRAMS("/lib"), PROGRAMS("/lib32"), PROGRAMS("/lib64"),   \
	PROGRAMS("/libx32"), PROGRAMS("/nix/store"),                \
	DATA("/etc/alternatives"), DATA("/etc/ld.so.cache"),        \
	DATA("/etc/ld.so.conf"), DATA("/etc/ld.so.conf.d"),         \
	DATA("/etc/localtime"), DATA("/etc/timezone"),              \
	DATA("/etc/ssl/certs"), DATA("/etc/ssl/openssl.cnf"),       \
	DATA("/etc/ca-certificates"), DATA("/etc/pki/tls/certs"),   \
	DATA("/etc/pki/ca-trust"), DATA("/etc/crypto-policies"),    \
	DATA("/etc/gai.conf"),                                      \
	DATA("/etc/host.conf"), DATA("/etc/protocols"),             \
	DATA("/etc/services"), DATA("/etc/mime.types"),             \
	DATA("/etc/magic"), DATA("/etc/magic.mime"),                \
	DATA("/etc/terminfo"), DATA("/etc/inputrc"),                \
	DATA("/etc/bash.bashrc"), DATA("/etc/fonts"),               \
	DATA("/etc/debian_version"), DATA("/etc/os-release"),       \
	DATA("/etc/lsb-release"), DATA("/etc/perl"),                \
	DATA("/etc/python3")

static const char workspace[] = JSON({
	"agentbox": 1,
	"name": "workspace",
	"mode": "sandbox",
	"workspace": { "at": "/workspace", "mount": "direct" },
	"mounts": [SYSTEM_MOUNTS],
	"env": {
		"set": {
			"PATH":
	"/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin"
		},
		"pass": ["LANG", "LC_ALL", "LC_CTYPE", "TERM", "COLORTERM",
			 "NO_COLOR", "TZ"]
	},
	"protect": ["builtin:code-that-runs-later"],
	"syscalls": { "profile": "default", "deny": [], "allow": [] },
	"limits": {
		"memory": "4GiB",
		"cpus": 4,
		"pids": 1024,
		"disk": "10GiB",
		"files": 4096,
		"wall": "2h",
		"require": []
	},
	"lifecycle": {
		"restart": "no",
		"max_restarts": 3,
		"backoff": "1s..60s",
		"grace": "10s",
		"orphan": "cascade"
	},
	"network": {
		"mode": "none",
		"allow": [],
		"deny": [],
		"private": [],
		"tcp": [],
		"transparent": true,
		"preview": []
	},
	"routes": [],
	"secrets": [],
	"tools": { "servers": [], "allow": [] },
	"scope": {
		"tools": ["database", "secrets", "deployment", "observability"]
	},
	"shield": { "mode": "off" },
	"commands": { "profile": "default", "rules": [] },
	"git": { "profile": "default", "rules": [] },
	"snapshot": {
		"exclude": [],
		"include": [],
		"git": "none",
		"max_bytes": "4GiB",
		"max_files": 1000000,
		"deadline": "60s"
	},
	"peering": "none",
	"orchestration": { "enabled": false },
	"require": ["userns", "mountns", "pidns", "netns", "landlock",
		    "seccomp"],
	"prefer": ["proc", "ipcns", "utsns", "cgroupns", "cgroup",
		   "landlock-net", "landlock-scope", "idmap"]
});

static const char strict[] = JSON({
	"agentbox": 1,
	"extends": "builtin:workspace",
	"name": "strict",
	"env": { "pass": ["LANG", "TERM"] },
	"syscalls": { "profile": "strict" },
	"limits": {
		"memory": "2GiB",
		"cpus": 2,
		"pids": 256,
		"disk": "2GiB",
		"files": 1024,
		"wall": "30m"
	},
	"commands": { "profile": "strict" },
	"git": { "profile": "strict" },
	"require": ["userns", "mountns", "pidns", "ipcns", "utsns", "netns",
		    "proc", "landlock", "seccomp"]
});

static const char review[] = JSON({
	"agentbox": 1,
	"extends": "builtin:strict",
	"name": "review",
	"workspace": { "mount": "read" }
});

static const char legacy_home[] = JSON({
	"agentbox": 1,
	"extends": "builtin:workspace",
	"name": "legacy-home",
	"workspace": { "at": "same", "mount": "direct" },
	"protect": ["builtin:code-that-runs-later", "protected"]
});

static const char bare[] = JSON({
	"agentbox": 1,
	"name": "bare",
	"mode": "bare",
	"network": { "mode": "host" },
	"secrets": [],
	"routes": [],
	"orchestration": { "enabled": false },
	"require": []
});

static const char manager[] = JSON({
	"agentbox": 1,
	"extends": "builtin:workspace",
	"name": "manager",
	"role": { "kind": "manager" },
	"protect+": ["protected"]
});

static const char engineer[] = JSON({
	"agentbox": 1,
	"extends": "builtin:workspace",
	"name": "engineer",
	"role": { "kind": "engineer", "worktrees": [] },
	"protect+": ["protected"]
});

const ab_builtin ab_builtins[] = {
	{ "strict", strict },
	{ "workspace", workspace },
	{ "review", review },
	{ "legacy-home", legacy_home },
	{ "bare", bare },
	{ "manager", manager },
	{ "engineer", engineer },
	{ 0, 0 },
};
