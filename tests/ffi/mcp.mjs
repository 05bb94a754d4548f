// SPDX-License-Identifier: LGPL-2.1-or-later
// The reference client of the Model Context Protocol, the guard, and two of
// the reference servers: node mcp.mjs AGENTBOX MODULES WORKSPACE [WANTED]
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport }
	from "@modelcontextprotocol/sdk/client/stdio.js";
import { CreateMessageRequestSchema }
	from "@modelcontextprotocol/sdk/types.js";
import assert from "node:assert";
import fs from "node:fs";
import path from "node:path";

const [tool, modules, workspace, wanted = "from the workspace\n"] =
	process.argv.slice(2);
const entry = (name) =>
	path.join(modules, "@modelcontextprotocol", name, "dist/index.js");
const files = [process.execPath, entry("server-filesystem"), workspace];
const everything = [process.execPath, entry("server-everything"), "stdio"];
const real = fs.realpathSync(process.execPath);
const box = [tool, "run", "--no-tty", "--workspace", workspace, "--at", "same",
	     "--read", modules, "--read", path.dirname(path.dirname(real)), "--"];
if (process.env.AB_TEST_HELPER_DIR)
	box.splice(2, 0, "--helper-dir", process.env.AB_TEST_HELPER_DIR);

async function session(command, allow, grant, fn, options = {}) {
	const policy = path.join(workspace, "..", "policy.json");
	fs.writeFileSync(policy, JSON.stringify({
		agentbox: 1, mode: "bare", tools: {
			servers: [{ name: "s", command, grant, resources: ["*"],
				prompts: ["*"] }], allow } }));
	const client = new Client({ name: "reference", version: "1" },
		{ capabilities: options.capabilities ?? {} });
	options.before?.(client);
	await client.connect(new StdioClientTransport({
		command: tool, stderr: "ignore", env: process.env,
		args: ["mcp-guard", "--policy", policy, "--", ...command] }));
	try {
		await fn(client);
	} finally {
		await client.close();
	}
}

const names = async (client) =>
	(await client.listTools()).tools.map((t) => t.name).sort();
const refused = (promise, code) =>
	assert.rejects(promise, (e) => e.code === code);
const text = (result) => result.content.map((c) => c.text).join("");

async function filesOf(command) {
	await session(command, ["s:read_text_file", "s:list_*"], [],
		async (client) => {
		assert.deepEqual(await names(client), ["list_allowed_directories",
			"list_directory", "list_directory_with_sizes",
			"read_text_file"]);
		const file = path.join(workspace, "file");
		assert.equal(text(await client.callTool({
			name: "read_text_file", arguments: { path: file } })),
			wanted);
		const made = path.join(workspace, "made");
		await refused(client.callTool({ name: "write_file",
			arguments: { path: made, content: "x" } }), -32602);
		assert(!fs.existsSync(made));
		await client.ping();
	});
}

async function everythingElse() {
	let progress = 0, asked = 0;
	await session(everything, ["s:echo", "s:get-sum",
		"s:trigger-long-running-operation"], [], async (client) => {
		assert.deepEqual(await names(client), ["echo", "get-sum",
			"trigger-long-running-operation"]);
		assert.match(text(await client.callTool({ name: "echo",
			arguments: { message: "äöü 漢字 \u2028" } })), /äöü 漢字/);
		assert.match(text(await client.callTool({ name: "get-sum",
			arguments: { a: 1.5, b: 2.25 } })), /3\.75/);
		await client.callTool({ name: "trigger-long-running-operation",
			arguments: { duration: 1, steps: 4 } }, undefined,
			{ onprogress: () => progress++ });
		assert(progress > 0, "no progress came");
		await refused(client.callTool({ name: "get-env" }), -32602);
		assert.equal(client.getServerCapabilities().resources, undefined);
		await refused(client.request({ method: "resources/list" },
			(await import("@modelcontextprotocol/sdk/types.js"))
				.ListResourcesResultSchema), -32601);
	}, { capabilities: { sampling: {} }, before: (c) =>
		c.setRequestHandler(CreateMessageRequestSchema, () => asked++) });
	assert.equal(asked, 0);
	await session(everything, [], ["resources", "prompts"],
		async (client) => {
		assert.deepEqual((await client.listTools()).tools, []);
		assert((await client.listResources()).resources.length > 0);
		assert((await client.listPrompts()).prompts.length > 0);
	});
}

await filesOf(files);
await everythingElse();
if (process.env.BOXED)
	await filesOf([...box, ...files]);
