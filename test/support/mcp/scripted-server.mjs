// A minimal MCP server of before 2026 that can be scripted to misbehave: messages are lines on stdio.
// Its script is one argument of JSON: { tools?, lists? (number of tool lists before it hangs), replies? (results by
// method), results? (of calls, by tool), … }.
import { createInterface } from 'node:readline';
import { readFileSync } from 'node:fs';

const script = JSON.parse(process.argv[2] ?? '{}');
/** The file has a list of tools, or a script that replaces parts of this one. */
const fromFile = () => {
  const content = JSON.parse(readFileSync(script.toolsFile, 'utf8'));
  return Array.isArray(content) ? { tools: content } : content;
};
const tools = () => (script.toolsFile ? fromFile().tools : (script.tools ?? []));
const serverVersion = () => (script.toolsFile && fromFile().serverVersion) || '1';
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const waiting = new Map();
let asked = 0;
let cancels = 0;

async function ask(method, params) {
  const id = `ask-${++asked}`;
  send({ id, method, params });
  return new Promise((resolve) => waiting.set(id, resolve));
}

const TOOLS = {
  echo: ({ text }) => ({ content: [{ type: 'text', text: String(text) }] }),
  /** Its arguments. */
  repeat: (args) => ({ content: [{ type: 'text', text: JSON.stringify(args) }] }),
  fail: () => ({ content: [{ type: 'text', text: 'It broke.' }], isError: true }),
  structured: () => ({ content: [{ type: 'text', text: '{"n":1}' }], structuredContent: { n: 1 } }),
  crooked: () => ({ content: [], structuredContent: { n: 'one' } }),
  bare: () => ({ content: [{ type: 'text', text: 'no structure' }] }),
  env: () => ({ content: [{ type: 'text', text: JSON.stringify(process.env) }] }),
  pid: () => ({ content: [{ type: 'text', text: String(process.pid) }] }),
  count: () => ({ content: [{ type: 'text', text: String((script.count = (script.count ?? 0) + 1)) }] }),
  picture: () => ({ content: [{ type: 'image', data: 'iVBORw0KGgo=', mimeType: 'image/png' }] }),
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
  /** Number of its cancelled calls. */
  cancels: () => ({ content: [{ type: 'text', text: String(cancels) }] }),
  hang: () => new Promise(() => undefined),
  exit: () => process.exit(3),
};

const COMPLETE = { resultType: 'complete', ttlMs: 0, cacheScope: 'private' };
const COLOUR = { type: 'object', properties: { colour: { type: 'string' } }, required: ['colour'] };
const SIZE = { type: 'object', properties: { size: { type: 'integer' } }, required: ['size'] };
const elicit = (message, requestedSchema) => ({
  method: 'elicitation/create',
  params: { mode: 'form', message, requestedSchema },
});
/** The results of a server of 2026, which returns its questions instead of sending them. */
const MODERN = {
  ask: (_args, { inputResponses, requestState }) =>
    inputResponses
      ? { content: [{ type: 'text', text: `${requestState} ${JSON.stringify(inputResponses)}` }] }
      : {
          resultType: 'input_required',
          requestState: 'state-of-the-server',
          inputRequests: { c: elicit('Which colour?', COLOUR), s: elicit('Which size?', SIZE) },
        },
  sample: () => ({
    resultType: 'input_required',
    inputRequests: { m: { method: 'sampling/createMessage', params: { messages: [], maxTokens: 1 } } },
  }),
};

const METHODS = {
  'server/discover': () => {
    if (!script.modern) throw new Error('no server/discover');
    return {
      supportedVersions: ['2026-07-28'],
      capabilities: { tools: { listChanged: true }, ...(script.content && { resources: {}, prompts: {} }) },
      _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'scripted', version: serverVersion() } },
    };
  },
  initialize: ({ protocolVersion }) => ({
    protocolVersion: script.version ?? protocolVersion,
    capabilities: {
      ...((script.tools ?? script.toolsFile) && { tools: { listChanged: true } }),
      ...(script.content && { resources: {}, prompts: {} }),
    },
    serverInfo: { name: 'scripted', version: serverVersion() },
  }),
  'tools/list': () => {
    if (script.lists === 0) return TOOLS.hang();
    script.lists &&= script.lists - 1;
    return { tools: tools() };
  },
  'tools/call': (params) => {
    const progressToken = params._meta?.progressToken;
    const most = progressToken === undefined ? 0 : (script.progress ?? 0);
    for (let progress = 1; progress <= most; progress++) {
      send({ method: 'notifications/progress', params: { progressToken, progress } });
    }
    return (script.modern ? { ...TOOLS, ...MODERN } : TOOLS)[params.name](params.arguments ?? {}, params);
  },
  'resources/list': () => ({ resources: [{ uri: 'note:1', name: 'A note' }] }),
  'resources/templates/list': () => ({ resourceTemplates: [{ uriTemplate: 'note:{n}', name: 'Notes' }] }),
  'resources/read': ({ uri }) => {
    if (!uri.startsWith('note:') && uri !== 'a:b')
      throw Object.assign(new Error('no such resource'), { code: -32_002 });
    return { contents: [{ uri, mimeType: 'text/plain', text: 'noted' }] };
  },
  'prompts/list': () => ({ prompts: [{ name: 'x', description: 'Says it.' }] }),
  'prompts/get': ({ name, arguments: args }) => {
    if (name !== 'x') throw Object.assign(new Error('no such prompt'), { code: -32_602 });
    return { messages: [{ role: 'user', content: { type: 'text', text: `Say ${args?.what}` } }] };
  },
};

async function reply({ method, params }) {
  if (script.replies?.[method]) return script.replies[method];
  if (method === 'tools/call' && script.results?.[params.name]) return script.results[params.name];
  const isContent = /^(resources|prompts)\//.test(method);
  if (!METHODS[method] || (isContent && !script.content)) throw new Error(`no ${method}`);
  return METHODS[method](params ?? {});
}

createInterface({ input: process.stdin }).on('line', (line) => void hear(JSON.parse(line)));

async function hear(message) {
  if (message.method === 'notifications/cancelled') cancels++;
  if (message.id === undefined) return;
  if (message.method === undefined) return void waiting.get(message.id)?.(message.result);
  if (message.method === 'server/discover' && script.diesOfDiscovery) process.exit(1);
  try {
    const result = await reply(message);
    send({ id: message.id, result: script.modern ? { ...COMPLETE, ...result } : result });
  } catch (error) {
    send({ id: message.id, error: { code: error.code ?? -32_601, message: error.message } });
  }
}
