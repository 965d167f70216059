import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type AnyClient, newClient } from './support/mcp-clients.js';
import { ToolRegistry } from '../src/tool/index.js';
import { keyHolder } from './support/api-keys.js';
import { callTool } from './support/direct-calls.js';
import { FakeLlm } from './support/fake-llm.js';
import { startJackdaw, type Jackdaw } from './support/jackdaw.js';
import { binary, PNG } from './support/mcp/media.mjs';
import { untilStatus } from './support/mcp/scripted-servers.js';
import { resultsIn } from './support/waiting-run.js';

const ANN = keyHolder('ann', 'a', 'admin');
const BOB = keyHolder('bob', 'b', 'admin');
const PROGRAM = new URL('support/mcp/media-server.mjs', import.meta.url).pathname;
/** Base64 of more than a few words. */
const BASE64 = /[A-Za-z0-9+/]{120}/;

let llm: FakeLlm;
let jackdaw: Jackdaw;

beforeAll(async () => {
  llm = await FakeLlm.start();
  jackdaw = await startJackdaw({
    env: {
      ...llm.envOf('openai'),
      LLM_MODEL: 'gpt-4o',
      API_KEYS: `${ANN.entry},${BOB.entry}`,
      AGENT_MAX_FILE_BYTES: '100000',
      AGENT_MAX_IMAGE_BYTES: '100000',
    },
    options: {
      workflows: [{ name: 'sounds', nodes: [{ id: 'give', type: 'tool', tool: 'media__sound', arguments: {} }] }],
      mcpServers: [
        { name: 'media', enabled: true, type: 'stdio', stdio: { command: process.execPath, args: [PROGRAM] } },
      ],
    },
  });
  await untilStatus(jackdaw, 'media');
});
afterEach(() => llm.reset());
afterAll(async () => {
  await jackdaw.stop();
  await llm.close();
});

function register(name: string, handler: () => unknown, server = jackdaw): void {
  server.app.get(ToolRegistry, { strict: false }).register({ name, description: 'Gives bytes.', handler });
}

/** The result of a call in a run, and the run's id. */
async function ask(name: string, args: Readonly<Record<string, unknown>> = {}) {
  llm.reply({ calls: [{ id: 'c', name, arguments: args }] }, { text: 'the end' });
  const stream = await jackdaw.stream({ query: 'go' }, ANN.headers);
  const events = await stream.all();
  const completed = events.find(({ event }) => event === 'tool.completed')!.data;
  return { runId: stream.runId, completed, result: resultsIn(events)['c'], events };
}

const fetchFile = (runId: string, n: number, { headers } = ANN) =>
  fetch(`${jackdaw.url}/api/runs/${runId}/files/${n}`, { headers });
const bytesOf = async (runId: string, n: number) => Buffer.from(await (await fetchFile(runId, n)).arrayBuffer());
/** The result as the model received it. */
const shown = () => llm.lastRequest.messages.find(({ role }) => role === 'tool')?.content;

describe('binary content of an MCP server', () => {
  it('is a file of the run, with a reference in its place', async () => {
    const { runId, completed, events } = await ask('media__document', { bytes: 65_572 });
    const references = [
      '[file 1: application/pdf, 65,572 bytes, file:///report.pdf]',
      '[file 2: application/octet-stream, 3,000 bytes]',
    ];
    expect(shown()).toBe(['before', ...references].join('\n'));
    expect(completed['files']).toEqual([
      { n: 1, media_type: 'application/pdf', bytes: 65_572, name: 'file:///report.pdf' },
      { n: 2, media_type: 'application/octet-stream', bytes: 3000 },
    ]);
    expect(await bytesOf(runId, 1)).toEqual(binary(65_572, '%PDF-1.7'));
    expect(await bytesOf(runId, 2)).toEqual(binary(3000));
    expect(JSON.stringify([events, llm.requests])).not.toMatch(BASE64);
    const { body } = await jackdaw.get(`/api/runs/${runId}/journal`, ANN.headers);
    const steps = body['steps'] as unknown as { name: string; result: unknown }[];
    expect(steps.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['tool:1:1', 'file:1:1:1', 'file:1:1:2', 'model:2']),
    );
    expect(steps.find(({ name }) => name === 'file:1:1:1')?.result).toEqual({
      n: 1,
      media_type: 'application/pdf',
      bytes: 65_572,
    });
    expect(JSON.stringify(body)).not.toMatch(BASE64);
  });

  it('is a part of the request if it is an image and the model has vision', async () => {
    const { runId, completed } = await ask('media__picture');
    expect(shown()).toBe('A dot:\n[file 1: image/png, 70 bytes]');
    expect(completed).toMatchObject({ images: [{ media_type: 'image/png', bytes: 70, file: 1 }] });
    expect(llm.lastRequest.messages.at(-1)?.content).toEqual([
      { type: 'image_url', image_url: { url: `data:image/png;base64,${PNG.toString('base64')}` } },
    ]);
    expect(await bytesOf(runId, 1)).toEqual(PNG);
  });

  it('is a part of the request if it is audio and the model hears it', async () => {
    const hear = async (model: string) => {
      llm.reset();
      llm.reply({ calls: [{ id: 'c', name: 'media__sound', arguments: {} }] }, { text: 'the end' });
      await jackdaw.chat({ query: 'go', model }, ANN.headers);
      return llm.lastRequest.messages.slice(-2).map(({ role, content }) => ({ role, content }));
    };
    const result = { role: 'tool', content: '[file 1: audio/wav, 2,000 bytes]' };
    expect((await hear('gpt-4o')).at(-1)).toEqual(result);
    const data = binary(2000, 'RIFF....WAVE').toString('base64');
    expect(await hear('gpt-4o-audio-preview')).toEqual([
      result,
      {
        role: 'user',
        content: [
          { type: 'text', text: '[What tool media__sound shows, call c]' },
          { type: 'input_audio', input_audio: { data, format: 'wav' } },
        ],
      },
    ]);
  });

  it('of structured content is replaced after the check of the output schema', async () => {
    const { result, completed } = await ask('media__structure');
    expect(completed['success']).toBe(true);
    expect(result).toEqual({
      name: 'a file',
      data: '[file 1: application/octet-stream, 49,179 bytes]',
      url: '[file 2: image/png, 70 bytes]',
    });
    expect(completed).toMatchObject({ images: [{ file: 2 }] });
    expect(shown()).not.toMatch(BASE64);
  });

  it('of a resource and of a failure never reaches the model as text', async () => {
    const { runId, result } = await ask('media__read_resource', { uri: 'scan:1' });
    expect(result).toEqual([
      { uri: 'scan:1', mimeType: 'application/x-scan', blob: '[file 1: application/x-scan, 300 bytes, scan:1]' },
    ]);
    expect(await bytesOf(runId, 1)).toEqual(binary(300));
    const failure = await ask('media__failure');
    expect(failure.completed['error']).toBe('[file: application/octet-stream, 3,000 bytes]');
  });

  it('is left out with a reason above the limit, and the call succeeds', async () => {
    const { completed, runId } = await ask('media__document', { bytes: 100_001 });
    expect(completed).toMatchObject({ success: true, files: [{ n: 1, bytes: 3000 }] });
    const reason = 'the files of a result may have 100,000 bytes (AGENT_MAX_FILE_BYTES)';
    expect(shown()).toContain(`[file left out: application/pdf, 100,001 bytes, file:///report.pdf; ${reason}]`);
    expect((await fetchFile(runId, 2)).status).toBe(404);
  });

  it('is left out above 100 files of a result', async () => {
    register('many', () => Array.from({ length: 101 }, (_, n) => Buffer.from([0xff, n])));
    const { completed, result } = await ask('many');
    expect(completed['files']).toHaveLength(100);
    expect((result as string[]).slice(99)).toEqual([
      '[file 100: application/octet-stream, 2 bytes]',
      '[file left out: application/octet-stream, 2 bytes; a result may have 100 files]',
    ]);
  });

  it('is left out above the limit of all files of a run', async () => {
    let count = 0;
    register('full', () => Buffer.alloc(100_000, 0xff).fill(++count, 0, 1));
    const calls = Array.from({ length: 21 }, (_, n) => ({ id: `c${n}`, name: 'full', arguments: {} }));
    llm.reply({ calls }, { text: 'the end' });
    const events = await (await jackdaw.stream({ query: 'go' }, ANN.headers)).all();
    const results = Object.values(resultsIn(events)) as string[];
    expect(results.filter((one) => /^\[file \d+: application\/octet-stream, 100,000 bytes\]$/.test(one))).toHaveLength(
      20,
    );
    expect(results.filter((one) => one.startsWith('[file left out: '))).toEqual([
      '[file left out: application/octet-stream, 100,000 bytes; the files of a run may have 2,000,000 bytes (AGENT_MAX_FILE_BYTES)]',
    ]);
  });

  it('is the result of a direct call too', async () => {
    const { body } = await callTool(jackdaw, 'media__sound', {}, ANN.headers);
    const file = { n: 1, media_type: 'audio/wav', bytes: 2000 };
    expect(body).toMatchObject({ result: '[file 1: audio/wav, 2,000 bytes]', files: [file] });
    const run = await jackdaw.get(`/api/runs/${body['run_id']}`, ANN.headers);
    expect(run.body['tool_results']).toMatchObject([{ files: [file] }]);
  });
});

describe('audio of a result', () => {
  it.each([
    ['Claude', 'anthropic', {}, { calls: [{ id: 'c', name: 'sound', arguments: {} }] }],
    ['the text protocol', 'openai', { LLM_PROTOCOL: 'react' }, { text: 'Action: sound\nAction Input: {}' }],
    [
      'XML',
      'openai',
      { LLM_PROTOCOL: 'xml' },
      { text: '<function_calls><invoke name="sound"></invoke></function_calls>' },
    ],
  ] as const)('is a reference with type and size for %s', async (_what, provider, env, call) => {
    const LLM_MODEL = provider === 'openai' ? 'gpt-4o-audio-preview' : 'claude-haiku-5-5';
    const other = await startJackdaw({ env: { ...llm.envOf(provider), LLM_MODEL, ...env } });
    const sound = binary(2000, 'RIFF....WAVE');
    register('sound', () => new Blob([sound], { type: 'audio/wav' }), other);
    llm.reply(call, { text: 'Final Answer: the end' });
    await other.chat({ query: 'go' });
    await other.stop();
    const sent = JSON.stringify(llm.requests);
    expect(llm.requests).toHaveLength(2);
    expect(JSON.stringify(llm.lastRequest)).toContain('[file 1: audio/wav, 2,000 bytes]');
    expect(sent).not.toContain(sound.toString('base64').slice(0, 100));
  });
});

describe('a node of a workflow', () => {
  it('has the files of its call', async () => {
    const start = { wait: true, input: {} };
    const { body } = await jackdaw.post('/api/workflows/sounds/runs', start, ANN.headers);
    expect(body['nodes']).toMatchObject([{ output: { result: '[file 1: audio/wav, 2,000 bytes]' } }]);
    const sound = binary(2000, 'RIFF....WAVE');
    expect(await bytesOf(String(body['run_id']), 1)).toEqual(sound);
  });
});

describe('GET /api/runs/:id/files/:n', () => {
  it('serves the content so that no browser executes it', async () => {
    const { headers, status } = await fetchFile((await ask('media__document', { bytes: 100 })).runId, 1);
    expect(status).toBe(200);
    expect(Object.fromEntries(headers)).toMatchObject({
      'content-type': 'application/pdf',
      'content-length': '100',
      'content-disposition': 'attachment',
      'content-security-policy': 'sandbox',
      'x-content-type-options': 'nosniff',
    });
  });

  it('serves images inline', async () => {
    const { headers } = await fetchFile((await ask('media__picture')).runId, 1);
    expect(Object.fromEntries(headers)).toMatchObject({
      'content-type': 'image/png',
      'content-disposition': 'inline',
      'content-security-policy': 'sandbox',
      'x-content-type-options': 'nosniff',
    });
  });

  it('answers 404 to another tenant and for an unknown file, and 400 for no number', async () => {
    const { runId } = await ask('media__picture');
    const statuses = [
      await fetchFile(runId, 1, BOB),
      await fetchFile(runId, 2),
      await fetchFile('unknown', 1),
      await fetch(`${jackdaw.url}/api/runs/${runId}/files/x`, { headers: ANN.headers }),
      await fetch(`${jackdaw.url}/api/runs/${runId}/files/1`),
    ].map(({ status }) => status);
    expect(statuses).toEqual([404, 404, 404, 400, 401]);
  });
});

describe('our own MCP server', () => {
  let client: AnyClient;
  beforeAll(async () => {
    client = await newClient(jackdaw.url, { headers: ANN.headers });
    jackdaw.app.get(ToolRegistry, { strict: false }).register({
      name: 'bytes',
      description: 'Gives bytes.',
      handler: () => ({ small: binary(30), text: Buffer.from('text'), blob: new Blob([binary(40)], { type: 'a/b' }) }),
    });
  });
  afterAll(() => client.close());
  const toBase64 = (bytes: number) => binary(bytes).toString('base64');
  const call = (name: string, args: Record<string, unknown> = {}) => client.callTool({ name, arguments: args });

  it('passes the originals of an MCP server on', async () => {
    expect(await call('media__picture')).toMatchObject({
      content: [{ type: 'text' }, { type: 'image', data: PNG.toString('base64'), mimeType: 'image/png' }],
    });
    expect(await call('media__sound')).toMatchObject({
      content: [{ type: 'text' }, { type: 'audio', data: binary(2000, 'RIFF....WAVE').toString('base64') }],
    });
    const blob = binary(500, '%PDF-1.7').toString('base64');
    expect(await call('media__document', { bytes: 500 })).toMatchObject({
      content: [
        { type: 'text' },
        { type: 'resource', resource: { uri: 'file:///report.pdf', mimeType: 'application/pdf', blob } },
        { type: 'resource', resource: { blob: binary(3000).toString('base64') } },
      ],
    });
    expect(await call('media__structure')).toMatchObject({
      structuredContent: { data: toBase64(49_179), url: `data:image/png;base64,${PNG.toString('base64')}` },
    });
  });

  it('passes the bytes of own tools on', async () => {
    expect(await call('bytes')).toMatchObject({
      structuredContent: { small: toBase64(30), text: 'text', blob: toBase64(40) },
    });
  });
});
