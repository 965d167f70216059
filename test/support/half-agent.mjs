// Makes an agent that cannot begin, or ends it, and then has nothing more to do: prints what came of it, and must end by itself.
import { createAgent, Extension } from '../../dist/index.js';

const [, , which, ...settings] = process.argv;
const env = { LLM_PROVIDER: 'offline', ...JSON.parse(settings[0] ?? '{}') };
/** An MCP server that never answers. */
const silent = {
  name: 'silent',
  enabled: true,
  type: 'stdio',
  stdio: { command: process.execPath, args: ['-e', 'process.stdin.resume()'] },
};
class Late extends Extension {
  name = 'late';
  version = '1.0.0';
  boot() {
    throw new Error('not today');
  }
}
const model = { provider: 'offline' };
const cases = {
  tool: { mcpServers: [silent], agent: { name: 'a', model, tools: ['nothing'] } },
  workflow: { mcpServers: [silent], workflows: [{ name: 'w', nodes: [{ id: 'x', type: 'tool', tool: 'nothing' }] }] },
  extension: { mcpServers: [silent], extensions: [Late] },
  object: { mcpServers: [silent], extensions: [{ name: 'late', version: '1.0.0', boot: () => undefined }] },
  server: { mcp: { enabled: true, name: 'nobody' } },
  none: {},
};
try {
  const agent = await createAgent({ env, logger: false, ...cases[which] });
  await agent.close();
  process.stdout.write('closed\n');
} catch (error) {
  process.stdout.write(`${error.code ?? error.message}\n`);
}
