import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { ToolRegistry } from '../src/tool/index.js';
import { keyHolder, type KeyHolder } from './support/api-keys.js';
import { callTool } from './support/direct-calls.js';
import { FakeLlm } from './support/fake-llm.js';
import { startJackdaw, type Jackdaw } from './support/jackdaw.js';
import { resultsIn } from './support/waiting-run.js';
import { WebServer } from './support/web-server.js';

const ANN = keyHolder('ann', 'a', 'admin');
/** Another principal of the same tenant. */
const CID = keyHolder('cid', 'a', 'admin');
const BOB = keyHolder('bob', 'b', 'admin');

let llm: FakeLlm;
let web: WebServer;
let jackdaw: Jackdaw;

beforeAll(async () => {
  llm = await FakeLlm.start();
  web = await WebServer.start();
  const model = { provider: 'openai', name: 'gpt-4o' };
  const body = { required: true, content: { 'application/octet-stream': {} } };
  const document = {
    openapi: '3.1.0',
    info: { title: 'Files', version: '1' },
    servers: [{ url: web.url }],
    paths: { '/upload': { post: { operationId: 'upload', summary: 'Sends a file.', requestBody: body } } },
  };
  jackdaw = await startJackdaw({
    env: {
      ...llm.envOf('openai'),
      API_KEYS: [ANN, BOB, CID].map(({ entry }) => entry).join(','),
      OUTGOING_ALLOW: `127.0.0.1:${web.port}`,
    },
    options: {
      restTools: [{ document, operations: [{ operationId: 'upload', untrusted: false, egress: false }] }],
      agents: [
        { name: 'seeing', model },
        { name: 'forgetful', model, memory: { enabled: false } },
      ],
    },
  });
  jackdaw.app.get(ToolRegistry, { strict: false }).register({
    name: 'draw',
    description: 'Draws.',
    parameters: { type: 'object', properties: { of: { type: 'string' } } },
    handler: (args) => contentOf(String((args as { of?: unknown }).of)),
  });
});
afterEach(() => {
  llm.reset();
  web.reset();
});
afterAll(async () => {
  await jackdaw.stop();
  await llm.close();
  await web.close();
});

const contentOf = (of: string) => Buffer.from(`\xff\0${of}`, 'latin1');

interface Turn {
  readonly sessionId?: string;
  readonly by?: KeyHolder;
  readonly agent?: string;
}

/** The results of a run that makes these calls one after the other. */
async function run(calls: readonly (readonly [name: string, args: object])[], turn: Turn = {}) {
  const { sessionId, by = ANN, agent = 'seeing' } = turn;
  const replies = calls.map(([name, args], at) => ({
    calls: [{ id: `c${at}`, name, arguments: args as Record<string, unknown> }],
  }));
  llm.reply(...replies, { text: 'the end' });
  web.on('/upload', (_request, reply) => void reply.writeHead(204).end());
  const stream = await jackdaw.stream({ query: 'go', agent, ...(sessionId && { sessionId }) }, by.headers);
  const events = await stream.all();
  expect(events.at(-1)?.event).toBe('run.completed');
  const results = resultsIn(events);
  const failure = events.find(({ data }) => data['success'] === false)?.data['error'];
  return { runId: stream.runId, results: calls.map((_call, at) => results[`c${at}`]), failure };
}
const draw = (of: string) => ['draw', { of }] as const;
const upload = (n: number) => ['upload', { body: n }] as const;
const sent = () => web.requests.map(({ bytes }) => bytes.toString('latin1').slice(2));
const NONE = expect.stringMatching(/^The request was not sent: there is no file 1 for the argument "body"/);

describe('a file that an argument names', () => {
  it('is one of the run', async () => {
    const { results, failure } = await run([draw('a'), draw('b'), upload(2), upload(1)]);
    expect(failure).toBeUndefined();
    expect(results.slice(0, 2)).toEqual([1, 2].map((n) => `[file ${n}: application/octet-stream, 3 bytes]`));
    expect(sent()).toEqual(['b', 'a']);
  });

  it('is one of an earlier turn, whose numbers the run continues', async () => {
    await run([draw('first')], { sessionId: 'album' });
    const { results, runId } = await run([draw('second'), upload(1), upload(2)], { sessionId: 'album' });
    expect(results[0]).toMatch(/^\[file 2: /);
    expect(sent()).toEqual(['first', 'second']);
    const file = await fetch(`${jackdaw.url}/api/runs/${runId}/files/2`, { headers: ANN.headers });
    expect(Buffer.from(await file.arrayBuffer())).toEqual(contentOf('second'));
    await run([upload(2), upload(1)], { sessionId: 'album' });
    expect(sent()).toEqual(['first', 'second', 'second', 'first']);
  });

  it('is not one of another session', async () => {
    await run([draw('other')], { sessionId: 'other' });
    expect(await run([upload(1)], { sessionId: 'mine' })).toMatchObject({ failure: NONE });
    expect(await run([upload(1)])).toMatchObject({ failure: NONE });
    expect(sent()).toEqual([]);
  });

  it('is not one of another tenant, or of another principal in the session', async () => {
    await run([draw('private')], { sessionId: 'shared' });
    expect(await run([upload(1)], { sessionId: 'shared', by: BOB })).toMatchObject({ failure: NONE });
    expect(await run([draw('own'), upload(1), upload(2)], { sessionId: 'shared', by: CID })).toMatchObject({
      results: [expect.stringMatching(/^\[file 2: /), expect.anything(), null],
      failure: NONE,
    });
    expect(sent()).toEqual(['own']);
  });

  it('is not one of a turn that the run does not see', async () => {
    await run([draw('hidden')], { sessionId: 'long' });
    expect(await run([upload(1)], { sessionId: 'long', agent: 'forgetful' })).toMatchObject({ failure: NONE });
    expect(sent()).toEqual([]);
  });

  it('is not the second one with its number', async () => {
    await run([draw('one')], { sessionId: 'twice' });
    await run([draw('two')], { sessionId: 'twice', agent: 'forgetful' });
    const failure = 'Several earlier results have a file 1: create it again.';
    expect(await run([upload(1)], { sessionId: 'twice' })).toMatchObject({ failure });
    expect(sent()).toEqual([]);
  });

  it('does not exist in a direct call', async () => {
    const { body } = await callTool(jackdaw, 'upload', { arguments: { body: 1 } }, ANN.headers);
    expect(body).toMatchObject({ success: false, error: NONE });
  });

  it('comes with an imported session', async () => {
    await run([draw('copied')], { sessionId: 'source' });
    const exported = await jackdaw.get('/api/sessions/source/export', ANN.headers);
    const { status } = await jackdaw.post('/api/sessions/import', { session: exported.body, id: 'copy' }, BOB.headers);
    expect(status).toBe(201);
    await run([upload(1)], { sessionId: 'copy', by: BOB });
    expect(sent()).toEqual(['copied']);
  });
});
