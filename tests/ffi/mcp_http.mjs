// SPDX-License-Identifier: LGPL-2.1-or-later
// The reference client of the Model Context Protocol in a box, and the
// reference server over HTTP behind the guard of the box's gateway:
//   node mcp_http.mjs AGENTBOX MODULES WORKSPACE [WANTED]
// It starts itself again in the box, as "box WANTED". The server speaks plain
// HTTP; TLS stands before it here, as it does wherever it is deployed.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport }
	from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import assert from "node:assert";
import { execFileSync, spawn } from "node:child_process";
import fs from "node:fs";
import http from "node:http";
import https from "node:https";
import net from "node:net";
import path from "node:path";
import { ALLOWED, everything, reader, refused } from "./mcp_cases.mjs";

// --- in the box ---

async function session(name, fn, options = {}) {
	const client = new Client({ name: "reference", version: "1" },
		{ capabilities: options.capabilities ?? {} });
	const transport = new StreamableHTTPClientTransport(
		new URL(`${process.env.AGENTBOX_ROUTES}/mcp/${name}`),
		{ requestInit: { headers: {
			Authorization: `Bearer ${process.env.AGENTBOX_KEY}` } } });
	options.before?.(client);
	await client.connect(transport);
	try {
		await fn(client);
		await transport.terminateSession();
	} finally {
		await client.close();
	}
}

async function inBox(wanted) {
	await everything((fn, options) => session("s", fn, options),
		fs.readFileSync("file", "utf8"), wanted);
	await session("r", async (client) => {
		const resources = await reader(client);
		await client.readResource({ uri: resources[0].uri });
		await refused(client.readResource({ uri: "file:///etc/shadow" }),
			      -32602);
	});
	await assert.rejects(session("none", async () => {}));
}

// --- outside ---

const free = () => new Promise((resolve) => {
	const s = net.createServer().listen(0, "127.0.0.1", () => {
		const { port } = s.address();
		s.close(() => resolve(port));
	});
});
const listens = (port) => new Promise((resolve, reject) => {
	const until = Date.now() + 60000;
	const attempt = () => net.connect(port, "127.0.0.1")
		.on("connect", function () { this.destroy(); resolve(); })
		.on("error", () => Date.now() < until ? setTimeout(attempt, 50) :
			reject(new Error("the server does not listen")));
	attempt();
});

// TLS before a server that has none; each connection is one request.
function terminate(top, port) {
	const cert = path.join(top, "ca.pem"), key = path.join(top, "ca.key");
	execFileSync("openssl", ["req", "-x509", "-newkey", "ec", "-pkeyopt",
		"ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", "/CN=x",
		"-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out",
		cert], { stdio: "ignore" });
	const server = https.createServer({ cert: fs.readFileSync(cert),
		key: fs.readFileSync(key) }, (req, res) => {
		const up = http.request({ port, agent: false, host: "127.0.0.1", path: req.url,
			method: req.method, headers: { ...req.headers,
				host: `127.0.0.1:${port}` } }, (got) => {
			res.writeHead(got.statusCode, got.headers);
			res.flushHeaders();
			got.pipe(res);
		});
		up.on("error", () => res.destroy());
		res.on("close", () => up.destroy());
		req.pipe(up);
	});
	return new Promise((resolve) => server.listen(0, "127.0.0.1", () =>
		resolve([server.address().port, cert])));
}

function policyOf(port, ca) {
	const server = (name, more) => ({ name, ca,
		url: `https://127.0.0.1:${port}/mcp`, ...more });
	return { agentbox: 1, extends: "builtin:workspace", network: {
		mode: "gateway", private: ["127.0.0.0/8"] }, tools: {
		servers: [server("s", {}), server("r", {
			grant: ["resources", "prompts"], resources: ["demo:*"],
			prompts: ["*"] })],
		allow: ALLOWED.map((t) => "s:" + t) } };
}

async function outside(tool, modules, workspace, wanted) {
	const top = path.dirname(workspace);
	const real = fs.realpathSync(process.execPath);
	const port = await free();
	const server = spawn(process.execPath, [path.join(modules,
		"@modelcontextprotocol/server-everything/dist/index.js"),
		"streamableHttp"], { stdio: "ignore",
		env: { ...process.env, PORT: String(port) } });
	try {
		await listens(port);
		const [tls, ca] = await terminate(top, port);
		const policy = path.join(top, "policy.json");
		fs.writeFileSync(policy, JSON.stringify(policyOf(tls, ca)));
		const self = path.dirname(process.argv[1]);
		const helpers = process.env.AB_TEST_HELPER_DIR;
		const box = spawn(tool, ["run", ...(helpers ?
			["--helper-dir", helpers] : []), "--no-tty", "--policy", policy,
			"--workspace", workspace, "--at", "same", "--read", modules,
			"--read", self,
			"--read", path.dirname(path.dirname(real)), "--", real,
			process.argv[1], "box", wanted], { cwd: workspace,
			stdio: ["ignore", "inherit", "inherit"] });
		return await new Promise((resolve) => box.on("exit", (code) =>
			resolve(code ?? 1)));
	} finally {
		server.kill();
	}
}

const [first, ...rest] = process.argv.slice(2);
if (first === "box") {
	await inBox(rest[0]);
} else {
	const [modules, workspace, wanted = "from the workspace\n"] = rest;
	process.exit(await outside(first, modules, workspace, wanted));
}
