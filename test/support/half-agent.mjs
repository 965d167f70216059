// Creates an agent that fails to start, or closes it, and prints the outcome. The process must then end by itself.
import { connect, createServer } from 'node:net';
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
  server: { mcp: { enabled: true, name: 'unnamed' } },
  none: {},
};

/** A proxy of a Redis that can disconnect with all its connections. */
async function relayTo(url) {
  const { hostname: host, port } = new URL(url);
  const sockets = new Set();
  const relay = createServer((inner) => {
    const outer = connect({ host, port: Number(port) });
    for (const socket of [inner, outer]) sockets.add(socket.on('error', () => undefined));
    inner.pipe(outer).pipe(inner);
  });
  await new Promise((resolve) => relay.listen(0, '127.0.0.1', resolve));
  const disconnect = () => {
    relay.close();
    for (const socket of sockets) socket.destroy();
  };
  return { url: `redis://127.0.0.1:${relay.address().port}`, disconnect };
}

const relay = which === 'lost' ? await relayTo(env.REDIS_URL) : undefined;
if (relay) env.REDIS_URL = relay.url;
try {
  const agent = await createAgent({ config: env, logger: false, ...cases[which] });
  if (relay) await agent.chat('6*7');
  relay?.disconnect();
  await agent.close();
  process.stdout.write('closed\n');
} catch (error) {
  process.stdout.write(`${error.code ?? error.message}\n`);
}
