import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { rmSync } from 'node:fs';
import { keyHolder } from './support/api-keys.js';
import { callTool } from './support/direct-calls.js';
import { FakeLlm } from './support/fake-llm.js';
import { newFolder, startJackdaw, type Jackdaw } from './support/jackdaw.js';
import { callOf, resultsIn, WaitingRun } from './support/waiting-run.js';
import { WaitingTools } from './support/waiting.tool.js';

const ADMIN = keyHolder('ann', 'a', 'admin');
const USER = keyHolder('uma', 'a', 'user');
const OTHER = keyHolder('bob', 'b', 'admin');
const OFF = /^Tool "look" is disabled/;

const tools = new WaitingTools();
const folder = newFolder();
let llm: FakeLlm;
let jackdaw: Jackdaw;

function start(): Promise<Jackdaw> {
  const env = { ACCESS_LOG: 'on', API_KEYS: [ADMIN, USER, OTHER].map(({ entry }) => entry).join(',') };
  return startJackdaw({ llm, tools: [tools], env, dataDir: folder });
}

function turn(name: string, switchTo: 'enable' | 'disable', { headers } = ADMIN) {
  return jackdaw.post(`/api/tools/${name}/${switchTo}`, undefined, headers);
}

function shown(): readonly string[] {
  const { tools: sent = [] } = llm.lastRequest as unknown as { tools?: { function: { name: string } }[] };
  return sent.map((tool) => tool.function.name);
}

beforeAll(async () => {
  llm = await FakeLlm.start();
  jackdaw = await start();
});
beforeEach(() => {
  llm.reset();
  tools.done.length = 0;
});
afterAll(async () => {
  await jackdaw.stop();
  await llm.close();
  rmSync(folder, { recursive: true });
});

describe('the tools', () => {
  it('are listed with all known properties', async () => {
    const { status, body } = await jackdaw.get('/api/tools', USER.headers);
    const list = body['tools'] as unknown as Record<string, unknown>[];
    expect([status, list.map(({ name }) => name)]).toEqual([
      200,
      expect.arrayContaining(['calculator', 'get_timestamp', 'pay', 'refund', 'look']),
    ]);
    expect(list.find(({ name }) => name === 'refund')).toEqual({
      name: 'refund',
      description: 'Needs approval above 100.',
      effect: 'idempotent',
      source: 'WaitingTools.refund',
      enabled: true,
      input_schema: expect.objectContaining({
        type: 'object',
        required: ['to', 'amount'],
        additionalProperties: false,
      }),
      metadata: { approval: 'sometimes', egress: false, untrusted: false, private: true, retries: 0 },
    });
    expect((await jackdaw.get('/api/tools/refund', USER.headers)).body).toEqual(
      list.find(({ name }) => name === 'refund'),
    );
  });

  it.each([
    ['GET', '/api/tools/lok'],
    ['POST', '/api/tools/lok/disable'],
    ['POST', '/api/tools/lok/enable'],
    ['POST', '/api/tools/lok/call'],
  ])('answer 404 for an unknown name, with a suggestion: %s %s', async (method, path) => {
    const body = path.endsWith('call')
      ? { headers: { ...ADMIN.headers, 'content-type': 'application/json' }, body: '{}' }
      : ADMIN;
    const answer = await jackdaw.send(path, { method, ...body });
    expect([answer.status, answer.body['code'], answer.body['near']]).toEqual([404, 'TOOL_NOT_FOUND', ['look']]);
  });
});

describe('a tool that is switched off', () => {
  it('is neither shown to models nor called, for that tenant only', async () => {
    expect((await turn('look', 'disable')).status).toBe(204);
    expect((await turn('look', 'disable')).status).toBe(204);
    llm.reply({ calls: [callOf('look', { text: 'x' })] }, { text: 'well' });
    const { body } = await jackdaw.chat({ query: 'go', includeDetails: true }, USER.headers);
    expect(shown()).not.toContain('look');
    expect(shown()).toContain('pay');
    expect([body['result'], body['tool_results'], tools.done]).toMatchObject([
      'well',
      [{ tool: 'look', success: false, error: expect.stringMatching(OFF) }],
      [],
    ]);
    const direct = await callTool(jackdaw, 'look', { arguments: { text: 'x' } }, USER.headers);
    expect([direct.status, direct.body['code'], direct.body['detail']]).toEqual([
      409,
      'TOOL_DISABLED',
      expect.stringMatching(OFF),
    ]);
    expect((await jackdaw.get('/api/tools/look', USER.headers)).body['enabled']).toBe(false);

    expect((await jackdaw.get('/api/tools/look', OTHER.headers)).body['enabled']).toBe(true);
    const theirs = await callTool(jackdaw, 'look', { arguments: { text: 'y' } }, OTHER.headers);
    expect(theirs.body['result']).toBe('seen y');
  });

  it('stays off over a restart, until an operator enables it again', async () => {
    await jackdaw.stop();
    jackdaw = await start();
    expect((await jackdaw.get('/api/tools/look', USER.headers)).body['enabled']).toBe(false);
    expect((await turn('look', 'enable')).status).toBe(204);
    const direct = await callTool(jackdaw, 'look', { arguments: { text: 'z' } }, USER.headers);
    expect(direct.body['result']).toBe('seen z');
  });

  it('is not called by a run that has waited for approval', async () => {
    const { body } = await callTool(jackdaw, 'pay', { arguments: { to: 'x', amount: 1 } }, ADMIN.headers);
    const run = new WaitingRun(jackdaw, String(body['run_id']), ADMIN.headers);
    await turn('pay', 'disable');
    const events = await run.after('approve');
    expect(resultsIn(events)).toEqual({ call_1: ['TOOL_DISABLED', expect.stringContaining('"pay" is disabled')] });
    expect([events.at(-1)?.event, tools.done]).toEqual(['run.failed', []]);
    await turn('pay', 'enable');
  });

  it('is switched by operators only, and the access log records it with the calls', async () => {
    expect((await turn('look', 'disable', USER)).status).toBe(403);
    const { body } = await jackdaw.get('/api/access-log?targetKind=tool', ADMIN.headers);
    const entries = body['entries'] as unknown as Record<string, unknown>[];
    expect(entries.map(({ principal, action, target_id }) => [principal, action, target_id])).toEqual([
      ['ann', 'enable', 'pay'],
      ['ann', 'disable', 'pay'],
      ['ann', 'call', 'pay'],
      ['uma', 'call', 'look'],
      ['ann', 'enable', 'look'],
      ['ann', 'disable', 'look'],
      ['ann', 'disable', 'look'],
    ]);
  });
});
