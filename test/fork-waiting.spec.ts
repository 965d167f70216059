import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { FakeLlm } from './support/fake-llm.js';
import type { FakeCall } from './support/fake-llm.types.js';
import { byTurn, Forks } from './support/forks.js';
import { startJackdaw, type Jackdaw } from './support/jackdaw.js';
import { callOf, expectPairs, WaitingRun } from './support/waiting-run.js';
import { WaitingTools } from './support/waiting.tool.js';

let llm: FakeLlm;
let tools: WaitingTools;
let jackdaw: Jackdaw;
let forks: Forks;
let count = 0;
beforeAll(async () => {
  llm = await FakeLlm.start();
  tools = new WaitingTools();
  jackdaw = await startJackdaw({ llm, tools: [tools] });
  forks = new Forks(jackdaw);
});
afterEach(() => {
  llm.reset();
  tools.done.length = 0;
});
afterAll(async () => {
  await jackdaw.stop();
  await llm.close();
});

function ask(...calls: FakeCall[]): Promise<WaitingRun> {
  llm.always(byTurn({ text: 'I try.', calls }, { text: 'the end' }));
  return WaitingRun.begin(jackdaw, `session-${++count}`);
}

/** Forks a run that waits or waited. */
async function fork(run: WaitingRun, fromStep: string, edit?: unknown): Promise<WaitingRun> {
  return new WaitingRun(jackdaw, (await forks.make(run.id, fromStep, edit)).id);
}

const pay = callOf('pay', { to: 'bob', amount: 5 });
const look = callOf('look', { text: 'around' });
const choose = callOf('choose', { text: 'Oslo' });

describe('a fork of a waiting run', () => {
  it('waits for its own decision: neither run gets the decision of the other', async () => {
    const run = await ask(pay, look);
    expect(llm.requests).toHaveLength(1);
    const other = await fork(run, 'tool:1:1');
    const [request] = await other.requests();
    expect(request).toMatchObject({ id: 'approval:1:1', tool: 'pay' });
    expect((await other.after('approve')).at(-1)!.data).toMatchObject({ type: 'run.completed', result: 'the end' });
    expect(tools.done).toEqual(['look around', 'look around', 'pay bob 5']);
    expect(await run.answer()).toMatchObject({ status: 'waiting' });
    expect((await run.after('deny')).at(-1)!.data).toMatchObject({ type: 'run.completed' });
    expect(tools.done).toHaveLength(3);
    // The first model call was made once; both runs read its recorded reply.
    expect(llm.requests).toHaveLength(3);
  });

  it('requests a pending approval before its step again, with its own expiry', async () => {
    const run = await ask(pay, look);
    const [first] = await run.requests();
    const other = await fork(run, 'tool:1:2');
    const [request] = await other.requests();
    expect(request!.expires_at).toBeGreaterThanOrEqual(first!.expires_at!);
    expect(await forks.steps(other.id)).toEqual(['value:window', 'model:1', 'value:approval:1:1', 'tool:1:2']);
    await run.after('cancel');
    await other.after('cancel');
  });

  it('resumes without a decision if the edit gives the result', async () => {
    const run = await ask(pay, look);
    const other = await forks.make(run.id, 'tool:1:1', { toolResult: { receipt: 7 } });
    expect(other.events.at(-1)!.data).toMatchObject({ type: 'run.completed' });
    expect(tools.done.filter((what) => what.startsWith('pay'))).toEqual([]);
    const messages = await expectPairs(jackdaw, other.sessionId);
    expect(messages[2]).toMatchObject({ role: 'tool', content: '{"receipt":7}' });
    await run.after('cancel');
  });

  it('asks a recorded question again', async () => {
    const run = await ask(choose);
    const other = await fork(run, 'suspend:1:1');
    expect(await other.requests()).toMatchObject([{ id: 'input:1:1', question: 'Which one for Oslo?' }]);
    await other.after('input', { value: 'KL2' });
    expect(tools.done).toEqual(['choose Oslo KL2']);
    await run.after('cancel');
  });
});

describe('a fork of a run with a recorded decision', () => {
  it('copies an approved result and requests approval again for a repeated call', async () => {
    const run = await ask(pay);
    await run.after('approve');
    expect(tools.done).toEqual(['pay bob 5']);
    const steps = [
      'value:window',
      'model:1',
      'value:approval:1:1',
      'answer:approval:1:1',
      'claim:1:1',
      'tool:1:1',
      'model:2',
    ];
    expect(await forks.steps(run.id)).toEqual(steps);

    const after = await forks.make(run.id, 'model:2');
    expect(after.events.at(-1)!.data).toMatchObject({ type: 'run.completed' });
    expect(await forks.steps(after.id)).toEqual(steps);
    for (const fromStep of steps.slice(2, 6)) {
      const anew = await fork(run, fromStep);
      expect(await anew.requests()).toMatchObject([{ id: 'approval:1:1' }]);
      await anew.after('cancel');
    }
    expect(tools.done).toEqual(['pay bob 5']);
  });
});
