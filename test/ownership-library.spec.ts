import { afterEach, describe, expect, it } from 'vitest';
import type { Principal } from '../src/index.js';
import { AgentHost } from './support/agent-host.js';
import { CounterTools } from './support/counter.tool.js';
import { calls, says } from './support/scripted-chat-model.js';
import { WaitingTools } from './support/waiting.tool.js';

const host = new AgentHost();
afterEach(() => host.stop());

const user = (id: string): Principal => ({ id, tenant: 'a', roles: ['user'] });
const absent = (what: 'RUN' | 'SESSION' | 'TOOL_STATE') => ({ code: `${what}_NOT_FOUND` });

/** Agents of several principals on one database. */
async function start() {
  const env = host.environment();
  const on = (principal: Principal, script = [says('Fine.')]) =>
    host.start({ config: env, principal, tools: [new CounterTools(), new WaitingTools()] }, script);
  const ann = await on(user('ann'), [says('Fine.'), calls(['pay', { to: 'bob', amount: 5 }]), says('Paid.')]);
  const { runId } = await ann.chat('Hello', { sessionId: 'anns' });
  await ann.createStatefulToolSession('count', 'anns').execute();
  return { ann, runId, on };
}

describe('an agent in code', () => {
  it('sees no session, run or state of another principal', async () => {
    const { runId, on } = await start();
    const amy = await on(user('amy'));
    const memory = await amy.createMemory();
    expect(await amy.sessions.list()).toEqual([]);
    expect(await amy.sessions.prune(0)).toEqual({ deleted: 0, held: 0 });
    for (const refused of [
      () => amy.sessions.get('anns'),
      () => amy.sessions.turns('anns'),
      () => amy.sessions.export('anns'),
      () => amy.sessions.delete('anns'),
      () => amy.chat('Hello', { sessionId: 'anns' }),
      () => amy.executeTool('count', {}, 'anns'),
      () => memory.restore('anns'),
    ]) {
      await expect(refused()).rejects.toMatchObject(absent('SESSION'));
    }
    for (const refused of [() => amy.outcome(runId), () => amy.file(runId, 1)]) {
      await expect(refused()).rejects.toMatchObject(absent('RUN'));
    }
    const states = amy.createStatefulToolSession('count', 'anns');
    for (const refused of [
      () => states.state(),
      () => states.history(),
      () => states.execute(),
      () => states.cleanup(),
    ]) {
      await expect(refused()).rejects.toMatchObject(absent('TOOL_STATE'));
    }
    expect(await amy.createStatefulToolSession('count', 'amys').execute()).toBe(1);
  });

  it('decides on no run of another principal', async () => {
    const { ann, on } = await start();
    const amy = await on(user('amy'));
    const waiting = await ann.chat('Pay', { sessionId: 'anns' });
    for (const refused of [
      () => amy.approve(waiting.runId),
      () => amy.deny(waiting.runId),
      () => amy.input(waiting.runId, { value: 1 }),
      () => amy.settle(waiting.runId, { outcome: 'retry' }),
    ]) {
      await expect(refused()).rejects.toMatchObject(absent('RUN'));
    }
    expect((await ann.approve(waiting.runId)).content).toBe('Paid.');
  });

  it('sees all of its tenant as an admin, or with this visibility', async () => {
    const { runId, on } = await start();
    for (const principal of [
      { id: 'root', tenant: 'a', roles: ['admin'] },
      { ...user('sam'), visibility: 'all' as const },
    ]) {
      const agent = await on(principal);
      expect((await agent.sessions.get('anns')).owner).toBe('ann');
      expect((await agent.outcome(runId)).content).toBe('Fine.');
      expect(await agent.createStatefulToolSession('count', 'anns').execute()).toBe(1);
    }
  });
});
