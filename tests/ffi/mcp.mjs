// SPDX-License-Identifier: LGPL-2.1-or-later
// The reference client of the Model Context Protocol, the guard, and two of
// the reference servers: node mcp.mjs AGENTBOX MODULES WORKSPACE [WANTED]
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport }
	from "@modelcontextprotocol/sdk/client/stdio.js";
import assert from "node:assert";
import fs from "node:fs";
import path from "node:path";
import { ALLOWED, everything, names, reader, refused, text }
	from "./mcp_cases.mjs";

const [tool, modules, workspace, wanted = "from the workspace\n"] =
	process.argv.slice(2);
const entry = (name) =>
	path.join(modules, "@modelcontextprotocol", name, "dist/index.js");
const files = [process.execPath, entry("server-filesystem"), workspace];
const all = [process.execPath, entry("server-everything"), "stdio"];
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

await filesOf(files);
await everything((fn, options) => session(all, ALLOWED.map((t) => "s:" + t),
	[], fn, options), "\u00e4\u00f6\u00fc \u6f22\u5b57");
await session(all, [], ["resources", "prompts"], reader);
if (process.env.BOXED)
	await filesOf([...box, ...files]);
