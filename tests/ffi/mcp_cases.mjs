// SPDX-License-Identifier: LGPL-2.1-or-later
// What the reference client sees of the reference servers through the guard,
// by whatever way it reaches them.
import { CreateMessageRequestSchema, ListResourcesResultSchema }
	from "@modelcontextprotocol/sdk/types.js";
import assert from "node:assert";

export const refused = (promise, code) =>
	assert.rejects(promise, (e) => e.code === code);
export const text = (result) => result.content.map((c) => c.text).join("");
export const names = async (client) =>
	(await client.listTools()).tools.map((t) => t.name).sort();

export const ALLOWED = ["echo", "get-sum", "trigger-long-running-operation"];

// session(fn, options) calls fn with a client that may call ALLOWED; what was
// said comes back as `wanted`.
export async function everything(session, said, wanted = said) {
	let progress = 0, asked = 0;
	await session(async (client) => {
		assert.deepEqual(await names(client), ALLOWED);
		assert(text(await client.callTool({ name: "echo",
			arguments: { message: said } })).includes(wanted));
		assert.match(text(await client.callTool({ name: "get-sum",
			arguments: { a: 1.5, b: 2.25 } })), /3\.75/);
		await client.callTool({ name: "trigger-long-running-operation",
			arguments: { duration: 1, steps: 4 } }, undefined,
			{ onprogress: () => progress++ });
		assert(progress > 0, "no progress came");
		await refused(client.callTool({ name: "get-env" }), -32602);
		assert.equal(client.getServerCapabilities().resources, undefined);
		await refused(client.request({ method: "resources/list" },
			ListResourcesResultSchema), -32601);
	}, { capabilities: { sampling: {} }, before: (c) =>
		c.setRequestHandler(CreateMessageRequestSchema, () => asked++) });
	assert.equal(asked, 0);
}

// Nothing is allowed here but to read resources and prompts.
export async function reader(client) {
	assert.deepEqual((await client.listTools()).tools, []);
	const { resources } = await client.listResources();
	assert(resources.length > 0);
	assert((await client.listPrompts()).prompts.length > 0);
	return resources;
}
