import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { FakeRequest } from '../support/fake-llm.types.js';
import type { Answer } from '../support/jackdaw-client.js';
import { ServerProcess } from '../support/process.js';
import { ProcessWorld } from '../support/process-world.js';
import { type SeenRequest, WebServer } from '../support/web-server.js';
import { IS_LONG_FORM } from '../support/long-form.js';

const MB = 1_000_000;
const [CHATS, STREAMS] = IS_LONG_FORM ? [200, 40] : [40, 8];
/** Their inputs have 8 MB: more than the heap together. */
const RUNS = 12;
const HEAP = { NODE_OPTIONS: '--max-old-space-size=200' };

const prompt = (n: number, size = MB) => `chat ${n} ${'a'.repeat(size)}`;
const lastOf = ({ messages }: FakeRequest) => messages.at(-1);

/** Counts answers by status and code. A refused upload may end with its connection. */
function tally(answers: readonly (Answer | undefined)[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const answer of answers) {
    const key = answer ? `${answer.status} ${answer.body['code'] ?? 'ok'}` : 'closed';
    counts[key] = (counts[key] ?? 0) + 1;
  }
  return counts;
}

const settle = (answers: readonly Promise<Answer>[]) =>
  Promise.all(answers.map((answer) => answer.catch(() => undefined)));

describe('a server with a heap of 200 MB', () => {
  const world = ProcessWorld.prepare();
  let endless: WebServer;
  beforeAll(async () => {
    endless = (await WebServer.start()).onAny(streamWithoutEnd);
  });
  afterAll(() => endless.close());

  async function start(env: Record<string, string> = {}): Promise<ServerProcess> {
    const given = { ...world.llm.env, ...HEAP, DATA_DIR: world.folder, LOG_LEVEL: 'warn', ...env };
    const server = ServerProcess.start('test/support/heavy-app.mjs', given);
    await server.waitForLine('ready ');
    return server;
  }

  it(`answers or refuses each of ${CHATS} chats with a prompt of 1 MB`, async () => {
    world.llm.always({ text: 'fine' });
    const server = await start();
    const answers = await settle(Array.from({ length: CHATS }, (_, n) => server.chat({ query: prompt(n) })));
    const { '200 ok': good, ...others } = tally(answers);
    expect(good).toBeGreaterThan(0);
    expect(others['503 HEAP_EXHAUSTED']).toBeGreaterThan(0);
    const known = ['503 HEAP_EXHAUSTED', '503 RUN_QUEUE_FULL', 'closed'];
    expect(Object.keys(others).filter((key) => !known.includes(key))).toEqual([]);
    const refused = answers.filter((answer) => answer?.status === 503);
    expect(refused.filter((answer) => !answer?.headers.has('retry-after'))).toEqual([]);
    expect(server.output.match(/Heap budget exhausted/g)).toHaveLength(1);
    expect((await server.chat({ query: prompt(CHATS) })).body).toMatchObject({ result: 'fine' });
  });

  it('records each of 15 parallel results of 5 MB, or an error in its place', async () => {
    const calls = Array.from({ length: 15 }, (_, n) => ({
      id: `c${n}`,
      name: 'read_archive',
      arguments: { bytes: 5 * MB },
    }));
    world.llm.always((request) => (lastOf(request)?.role === 'user' ? { calls } : { text: 'done' }));
    const server = await start();
    const { status, body } = await server.chat({ query: 'read' });
    expect([status, body['result']]).toEqual([200, 'done']);
    const results = lastRequestResults(world.llm.lastRequest);
    expect(results).toHaveLength(15);
    expect(results.filter((text) => text.startsWith('aaaa')).length).toBeGreaterThan(0);
    expect(results.filter((text) => /no memory for its result/.test(text)).length).toBeGreaterThan(0);
    expect(readFileSync(join(world.folder, 'effects'), 'utf8').split('\n').filter(Boolean)).toHaveLength(15);
  });

  it(`ends ${STREAMS} endless replies of its provider with an error`, async () => {
    world.llm.always({ text: 'fine' });
    const server = await start({ OPENAI_BASE_URL: `${endless.url}/v1`, LLM_OPENAI_API: 'chat' });
    const paths = ['/api/agent/chat', '/api/agent/chat/stream'];
    const send = (n: number) => server.post(paths[n % 2]!, { query: 'endless' });
    const answers = await settle(Array.from({ length: STREAMS }, (_, n) => send(n)));
    const codes = answers.map((answer) => /"code":"(\w+)"/.exec(answer?.text ?? '')?.[1] ?? '');
    expect(codes).toContain('HEAP_EXHAUSTED');
    const known = ['HEAP_EXHAUSTED', 'MODEL_BAD_REPLY', 'SLOW_READER'];
    expect(codes.filter((code) => !known.includes(code))).toEqual([]);
    expect((await server.chat({ query: 'ends' })).body).toMatchObject({ result: 'end' });
  });

  it.each(IS_LONG_FORM ? [RUNS] : [])('resumes %i runs with an input of 8 MB after a crash', async () => {
    world.llm.always({ hang: true });
    const first = await start({ NODE_OPTIONS: '', HTTP_BODY_LIMIT_BYTES: String(9 * MB) });
    const runIds: string[] = [];
    for (let n = 0; n < RUNS; n++) {
      runIds.push(String((await first.post('/api/agent/runs', { query: prompt(n, 8 * MB) })).body['run_id']));
    }
    await first.kill();
    world.llm.always({ text: 'fine' });
    const second = await start();
    for (const runId of runIds) expect((await second.events(runId)).at(-1)).toMatchObject({ event: 'run.completed' });
  });
});

function lastRequestResults({ messages }: FakeRequest): string[] {
  return messages.filter(({ role }) => role === 'tool').map(({ content }) => String(content));
}

/** A model of endless words; it answers "ends" with one. */
function streamWithoutEnd({ body }: SeenRequest, reply: WebServerReply): void {
  const request = JSON.parse(body) as FakeRequest;
  const isEndless = lastOf(request)?.content === 'endless';
  const chunk = (delta: object, finish_reason: string | null = null) =>
    `data: ${JSON.stringify({ model: 'm', choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
  if (!isEndless && !request.stream) {
    const choices = [{ index: 0, message: { role: 'assistant', content: 'end' }, finish_reason: 'stop' }];
    return void reply.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ choices }));
  }
  reply.writeHead(200, { 'content-type': 'text/event-stream' });
  if (!isEndless) return void reply.end(`${chunk({ content: 'end' })}${chunk({}, 'stop')}data: [DONE]\n\n`);
  const words = chunk({ content: 'word '.repeat(1_000) });
  const write = () => {
    while (!reply.destroyed && reply.write(words));
  };
  reply.on('drain', write);
  write();
}

type WebServerReply = Parameters<Parameters<WebServer['onAny']>[0]>[1];
