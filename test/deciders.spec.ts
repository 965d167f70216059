import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { Database } from '../src/persistence/index.js';
import { suspend, ToolRegistry } from '../src/tool/index.js';
import { Tool, type ToolContext } from '../src/tool/method/index.js';
import { keyHolder, type KeyHolder } from './support/api-keys.js';
import { FakeLlm } from './support/fake-llm.js';
import { newKey } from './support/private-world.js';
import { startJackdaw, type Jackdaw } from './support/jackdaw.js';

const OWNER = keyHolder('owner', 'a', 'admin|finance');
const SECOND = keyHolder('second', 'a', 'admin|finance');
const USER = keyHolder('user', 'a', 'user', 'all');
const MANAGER = keyHolder('manager', 'a', 'user|manager', 'all');

const AMOUNT = { type: 'object', properties: { amount: { type: 'number' } }, required: ['amount'] } as const;

class Payments {
  readonly done: string[] = [];

  @Tool({ description: 'Pays.', approval: 'always', input: AMOUNT })
  pay({ amount }: { amount: number }): string {
    this.done.push(`pay ${amount}`);
    return 'paid';
  }

  @Tool({ description: 'Transfers, with two persons.', approval: { by: 'another' }, input: AMOUNT })
  transfer({ amount }: { amount: number }): string {
    this.done.push(`transfer ${amount}`);
    return 'transferred';
  }

  @Tool({
    description: 'Refunds, by a manager above 100.',
    approval: { by: ['manager'], when: ({ amount }: { amount: number }) => amount > 100 },
    input: AMOUNT,
  })
  refund({ amount }: { amount: number }): string {
    this.done.push(`refund ${amount}`);
    return 'refunded';
  }

  @Tool({ description: 'Asks.', effect: 'read', input: { type: 'object' } })
  ask(_input: unknown, { answer }: ToolContext): unknown {
    if (!answer) return suspend({ question: 'Which?' });
    this.done.push(`ask ${JSON.stringify(answer.value)}`);
    return 'asked';
  }
}

describe('a decision about a call', () => {
  const payments = new Payments();
  let llm: FakeLlm;
  let jackdaw: Jackdaw;
  beforeAll(async () => {
    llm = await FakeLlm.start();
    jackdaw = await startJackdaw({
      llm,
      env: { API_KEYS: [OWNER, SECOND, USER, MANAGER].map(({ entry }) => entry).join(',') },
      tools: [payments],
      // A user may not make these calls; only finance may.
      options: { securityPolicy: { tools: [{ roles: ['user'], deny: ['pay', 'transfer', 'refund', 'ask'] }] } },
    });
  });
  afterAll(async () => {
    await jackdaw.stop();
    await llm.close();
  });
  afterEach(() => {
    payments.done.length = 0;
    llm.reset();
  });

  async function waiting(tool: string, args: Record<string, unknown>): Promise<string> {
    llm.reply({ calls: [{ id: 'c', name: tool, arguments: args }] }, { text: 'the end' });
    const { status, body } = await jackdaw.chat({ query: 'go' }, OWNER.headers);
    expect(status).toBe(202);
    return String(body['run_id']);
  }

  async function decide(run: string, how: string, { headers }: KeyHolder, body: object = {}) {
    const { status, body: answer } = await jackdaw.post(`/api/runs/${run}/${how}`, body, headers);
    if (status === 202) await jackdaw.events(run, OWNER.headers);
    return [status, answer['code'] ?? 'decided'];
  }

  it('needs permission for the call to approve it, edit it, answer its question or settle it', async () => {
    const run = await waiting('pay', { amount: 5 });
    expect(await decide(run, 'approve', USER)).toEqual([403, 'FORBIDDEN']);
    expect(await decide(run, 'approve', USER, { arguments: { amount: 1 } })).toEqual([403, 'FORBIDDEN']);
    expect(payments.done).toEqual([]);
    expect(await decide(run, 'approve', OWNER)).toEqual([202, 'decided']);
    const question = await waiting('ask', {});
    expect(await decide(question, 'input', USER, { value: 'x' })).toEqual([403, 'FORBIDDEN']);
    expect(await decide(question, 'input', SECOND, { value: 'x' })).toEqual([202, 'decided']);
    expect(payments.done).toEqual(['pay 5', 'ask "x"']);
  });

  it('needs permission for a call whose tool is not registered here at present', async () => {
    const run = await waiting('pay', { amount: 5 });
    const registry = jackdaw.app.get(ToolRegistry, { strict: false });
    const tool = registry.get('pay');
    registry.unregister('pay');
    expect(await decide(run, 'approve', USER)).toEqual([403, 'FORBIDDEN']);
    registry.register(tool);
    expect(await decide(run, 'approve', OWNER)).toEqual([202, 'decided']);
    expect(payments.done).toEqual(['pay 5']);
  });

  it('needs no permission for the call to deny it', async () => {
    const run = await waiting('pay', { amount: 5 });
    expect(await decide(run, 'deny', USER)).toEqual([202, 'decided']);
    expect(payments.done).toEqual([]);
  });

  it('needs a second person with permission for the call where the tool says so', async () => {
    const run = await waiting('transfer', { amount: 5 });
    expect((await jackdaw.get(`/api/runs/${run}`, OWNER.headers)).body['waiting']).toMatchObject([
      { by_another: true },
    ]);
    expect(await decide(run, 'approve', OWNER)).toEqual([403, 'FORBIDDEN']);
    expect(await decide(run, 'approve', OWNER, { arguments: { amount: 1 } })).toEqual([403, 'FORBIDDEN']);
    expect(await decide(run, 'approve', MANAGER)).toEqual([403, 'FORBIDDEN']);
    expect(await decide(run, 'approve', SECOND)).toEqual([202, 'decided']);
    expect(payments.done).toEqual(['transfer 5']);
  });

  it('is for the roles that the tool names, who may approve but not edit a call that policy denies to them', async () => {
    const run = await waiting('refund', { amount: 500 });
    expect((await jackdaw.get(`/api/runs/${run}`, OWNER.headers)).body['waiting']).toMatchObject([
      { by_roles: ['manager'] },
    ]);
    expect(await decide(run, 'approve', OWNER)).toEqual([403, 'FORBIDDEN']);
    expect(await decide(run, 'approve', MANAGER, { arguments: { amount: 9 } })).toEqual([403, 'FORBIDDEN']);
    expect(await decide(run, 'approve', MANAGER)).toEqual([202, 'decided']);
    expect(payments.done).toEqual(['refund 500']);
    llm.reply({ calls: [{ id: 'c', name: 'refund', arguments: { amount: 5 } }] }, { text: 'the end' });
    expect((await jackdaw.chat({ query: 'go' }, OWNER.headers)).status).toBe(200);
  });
});

describe('an Idempotency-Key', () => {
  it.each([
    ['plain', ''],
    ['encrypted', newKey('k')],
  ])('belongs to its principal, with %s runs', async (_how, keys) => {
    const env = { API_KEYS: `${OWNER.entry},${SECOND.entry}`, ENCRYPTION_KEYS: keys };
    const jackdaw = await startJackdaw({ env });
    const chat = async ({ headers }: KeyHolder, query: string) => {
      const answer = await jackdaw.chat({ query }, { ...headers, 'idempotency-key': 'k' });
      return [answer.status, String(answer.body['run_id'])] as const;
    };
    const [status, run] = await chat(OWNER, '1+1');
    const [otherStatus, other] = await chat(SECOND, '2+2');
    expect([status, otherStatus, run === other]).toEqual([200, 200, false]);
    expect(await chat(OWNER, '1+1')).toEqual([200, run]);
    // A row of an earlier version.
    const database = jackdaw.app.get(Database, { strict: false });
    await database.commit([
      { sql: 'DELETE FROM idempotency_key WHERE run_id = ?', params: [other] },
      { sql: 'UPDATE idempotency_key SET idem_key = ? WHERE run_id = ?', params: ['k', run] },
    ]);
    expect(await chat(OWNER, '1+1')).toEqual([200, run]);
    expect((await chat(SECOND, '1+1'))[1]).not.toBe(run);
    await jackdaw.stop();
  });
});
