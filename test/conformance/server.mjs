// Starts the compiled application for the server scenarios of the conformance suite; prints `ready <url>` to standard
// output.
import { createApp } from '../../dist/server/bootstrap.js';
import { McpClients, McpPrompts, McpResources, ToolRegistry } from '../../dist/index.js';
import { PROMPTS } from './prompts.mjs';
import { RESOURCES } from './resources.mjs';
import { ConformanceTools } from './tools.mjs';

const tools = new ConformanceTools();
const app = await createApp({ tools: [tools] });
const prompts = app.get(McpPrompts, { strict: false });
const resources = app.get(McpResources, { strict: false });
for (const prompt of PROMPTS) prompts.register(prompt);
for (const resource of RESOURCES) resources.register(resource);
tools.services = {
  clients: app.get(McpClients, { strict: false }),
  tools: app.get(ToolRegistry, { strict: false }),
  prompts,
};
await app.listen(0, '127.0.0.1');
process.stdout.write(`ready ${await app.getUrl()}\n`);
