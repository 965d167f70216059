import { existsSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { ToolEffect } from '../src/tool/index.js';
import { Tool } from '../src/tool/method/index.js';
import { createTestAgent, expectCalls, type TestAgent, type TestAgentOptions } from '../src/testing/index.js';

const HOUR_MS = 3_600_000;
const PAY = { calls: [{ name: 'pay', arguments: { amount: 5 } }] };
const agents: TestAgent[] = [];

async function start(options: TestAgentOptions): Promise<TestAgent> {
  const agent = await createTestAgent(options);
  agents.push(agent);
  return agent;
}

afterEach(async () => {
  for (const agent of agents.splice(0)) await agent.close().catch(() => undefined);
});

/** A tool that counts its payments. */
function till(effect: ToolEffect, approval: 'never' | 'always' = 'never') {
  class Till {
    readonly paid: { readonly amount: number; readonly key: string }[] = [];

    @Tool({ description: 'Pays.', effect, approval, input: z.object({ amount: z.number() }) })
    pay({ amount }: { amount: number }, { key }: { key: string }): string {
      this.paid.push({ amount, key });
      return `paid ${amount}`;
    }
  }
  return new Till();
}

describe('createTestAgent', () => {
  it('answers by the script, and removes its data at the end', async () => {
    const agent = await start({ script: [PAY, 'It is paid.'], tools: [till('idempotent')] });
    expect(await agent.chat('Pay 5.')).toMatchObject({ content: 'It is paid.', iterations: 2 });
    expect(existsSync(agent.folder)).toBe(true);
    await agent.close();
    expect(existsSync(agent.folder)).toBe(false);
  });

  it('fails at the end if a line of the script is unused', async () => {
    const agent = await start({ script: ['Hello.', { when: /refund/, reply: PAY }] });
    await agent.chat('Hi');
    await expect(agent.close()).rejects.toThrow(/- line 2 \(when text \/refund\/\): pay\(\{"amount":5\}\)/);
  });

  it('fails the run and the end if a request is unexpected', async () => {
    const agent = await start({ script: [{ when: { text: 'refund' }, reply: 'ok' }] });
    const difference = '- text: "refund"\n      + text: "Hi"';
    await expect(agent.chat('Hi')).rejects.toThrow(difference);
    await expect(agent.close()).rejects.toThrow(difference);
  });

  it('continues its data after a restart', async () => {
    const agent = await start({ script: ['Hello Ann.', 'You are Ann.'] });
    const { sessionId } = await agent.chat('I am Ann.');
    const next = await agent.restart();
    await next.chat('Who am I?', { sessionId: sessionId! });
    expect(next.script.lastRequest.messages.map(({ content }) => content)).toContain('I am Ann.');
    await agent.close();
  });
});

describe('crash', () => {
  it('repeats a call whose result was not recorded, with the same key', async () => {
    const tool = till('idempotent');
    const agent = await start({ script: [PAY, 'It is paid.'], tools: [tool] });
    const { reply } = await agent.crash({ before: 'tool:1:1' }, () => agent.chat('Pay 5.'));
    expect(reply.content).toBe('It is paid.');
    expect(tool.paid).toEqual([tool.paid[0], tool.paid[0]]);
    await agent.close();
  });

  it('does not repeat a recorded call', async () => {
    const tool = till('idempotent');
    const agent = await start({ script: [PAY, 'It is paid.'], tools: [tool] });
    const { reply } = await agent.crash({ after: 'tool:1:1' }, () => agent.chat('Pay 5.'));
    expect([reply.content, tool.paid.length]).toEqual(['It is paid.', 1]);
    await agent.close();
  });

  it.each([
    ['before the call', { after: 'claim:1:1' }, 0],
    ['after the call', { before: 'tool:1:1' }, 1],
  ] as const)('asks for the outcome of a call that must not repeat: %s', async (_name, point, count) => {
    const tool = till('once');
    const agent = await start({ script: [PAY, 'It is paid.'], tools: [tool] });
    const { agent: next, reply } = await agent.crash(point, () => agent.chat('Pay 5.'));
    expect([reply.waiting?.map(({ kind }) => kind), tool.paid.length]).toEqual([['outcome_unknown'], count]);
    const settled = await next.settle(reply.runId, { outcome: 'succeeded', result: 'paid 5' });
    expect([settled.content, tool.paid.length]).toEqual(['It is paid.', count]);
    await agent.close();
  });

  it('repeats a model call whose reply was not recorded', async () => {
    const agent = await start({ script: ['first', 'second'] });
    const { reply } = await agent.crash({ before: 'model:1' }, () => agent.chat('Hi'));
    expect(reply.content).toBe('second');
    await agent.close();
  });

  it('fails if no run reaches the step, and names the recorded ones', async () => {
    const agent = await start({ script: [PAY, 'It is paid.'], tools: [till('idempotent')] });
    const crashing = agent.crash({ before: 'tool:7:1' }, () => agent.chat('Pay 5.'));
    await expect(crashing).rejects.toThrow(/"tool:7:1"; recorded steps: .*model:1, tool:1:1/);
    await agent.close();
  });
});

describe('advance', () => {
  it('expires an approval, and lets tools see the time', async () => {
    const before = Date.now();
    const agent = await start({ script: [PAY, 'It was not approved.'], tools: [till('idempotent', 'always')] });
    const { waiting, runId } = await agent.chat('Pay 5.');
    const [request] = waiting ?? [];
    await agent.advance(request!.expires_at! - Date.now() - HOUR_MS);
    expect((await agent.outcome(runId)).waiting).toHaveLength(1);
    await agent.advance(HOUR_MS + 1);
    expect((await agent.outcome(runId)).content).toBe('It was not approved.');
    expect(Date.now() - before).toBeGreaterThan(HOUR_MS);
    await agent.close();
    expect(Date.now() - before).toBeLessThan(HOUR_MS);
  });
});

describe('expectCalls', () => {
  it('compares the calls of a run, and shows both lists', async () => {
    const agent = await start({ script: [PAY, 'It is paid.'], tools: [till('idempotent')] });
    const reply = await agent.chat('Pay 5.');
    const calls = await agent.calls(reply);
    expectCalls(calls, [{ tool: 'pay', arguments: { amount: 5 } }]);
    expectCalls(calls, [{ tool: 'pay' }, { tool: 'look' }], { mode: 'subset' });
    const fault = 'expected strict pay({"amount":6}), received pay({"amount":5})';
    expect(() => expectCalls(calls, [{ tool: 'pay', arguments: { amount: 6 } }])).toThrow(
      expect.objectContaining({
        name: 'AssertionError',
        message: fault,
        actual: [{ tool: 'pay', arguments: { amount: 5 } }],
        expected: [{ tool: 'pay', arguments: { amount: 6 } }],
      }),
    );
    expect(() => expectCalls(calls, [])).toThrow('expected strict no calls');
    // A reply has no calls.
    expect(() => expectCalls(reply as never, [])).toThrow(
      /^expectCalls\(\) needs the calls of a run, `await agent\.calls\(reply\)`, or an answer of AgentService; it received \{"role"/,
    );
  });
});
