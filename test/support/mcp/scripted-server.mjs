// An MCP server of before 2026 in so few words that it can be made to do wrong: messages are lines on stdio.
// What it is like is one argument of JSON: { tools?, pages?, capabilities?, replies?: { [tool]: result }, … }.
import { createInterface } from 'node:readline';
import { readFileSync } from 'node:fs';

const script = JSON.parse(process.argv[2] ?? '{}');
const tools = () => (script.toolsFile ? JSON.parse(readFileSync(script.toolsFile, 'utf8')) : (script.tools ?? []));
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const waiting = new Map();
let asked = 0;

async function ask(method, params) {
  const id = `ask-${++asked}`;
  send({ id, method, params });
  return new Promise((resolve) => waiting.set(id, resolve));
}

const TOOLS = {
  echo: ({ text }) => ({ content: [{ type: 'text', text: String(text) }] }),
  fail: () => ({ content: [{ type: 'text', text: 'It broke.' }], isError: true }),
  structured: () => ({ content: [{ type: 'text', text: '{"n":1}' }], structuredContent: { n: 1 } }),
  crooked: () => ({ content: [], structuredContent: { n: 'one' } }),
  bare: () => ({ content: [{ type: 'text', text: 'no structure' }] }),
  env: () => ({ content: [{ type: 'text', text: JSON.stringify(process.env) }] }),
  pid: () => ({ content: [{ type: 'text', text: String(process.pid) }] }),
  count: () => ({ content: [{ type: 'text', text: String((script.count = (script.count ?? 0) + 1)) }] }),
  picture: () => ({ content: [{ type: 'image', data: 'aGk=', mimeType: 'image/png' }] }),
  ask: async () => {
    const answer = await ask('elicitation/create', {
      message: 'Which colour?',
      requestedSchema: { type: 'object', properties: { colour: { type: 'string' } }, required: ['colour'] },
    });
    return { content: [{ type: 'text', text: `${answer.action} ${JSON.stringify(answer.content ?? null)}` }] };
  },
  change: () => {
    send({ method: 'notifications/tools/list_changed' });
    return { content: [{ type: 'text', text: 'changed' }] };
  },
  hang: () => new Promise(() => undefined),
  exit: () => process.exit(3),
};

async function reply({ id, method, params }) {
  switch (method) {
    case 'initialize':
      return {
        protocolVersion: script.version ?? params.protocolVersion,
        capabilities: { tools: { listChanged: true } },
        serverInfo: { name: 'scripted', version: '1' },
      };
    case 'tools/list':
      return { tools: tools() };
    case 'tools/call': {
      if (params._meta?.progressToken !== undefined && script.progress) {
        for (let progress = 1; progress <= script.progress; progress++) {
          send({ method: 'notifications/progress', params: { progressToken: params._meta.progressToken, progress } });
        }
      }
      return TOOLS[params.name](params.arguments ?? {}, id);
    }
    default:
      throw new Error(`no ${method}`);
  }
}

createInterface({ input: process.stdin }).on('line', (line) => void hear(JSON.parse(line)));

async function hear(message) {
  if (message.method === 'notifications/cancelled') process.stderr.write(`cancelled ${message.params.requestId}\n`);
  if (message.id === undefined) return;
  if (message.method === undefined) return void waiting.get(message.id)?.(message.result);
  if (message.method === 'server/discover' && script.diesOfDiscovery) process.exit(1);
  try {
    send({ id: message.id, result: await reply(message) });
  } catch (error) {
    send({ id: message.id, error: { code: -32_601, message: error.message } });
  }
}
