import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { completed, openDatabase, RunHost, type OpenDatabase } from '../../../test/support/run-host.js';
import { newExecution, nextExecution, type RunExecution, storedEvents } from '../../../test/support/run-execution.js';
import type { StepName } from './run-context.js';
import type { RunEvent } from '../event/run-event.types.js';
import type { StepCompanion } from './step-companion.types.js';

const STEP: StepName = { kind: 'tool', place: '1:1', subject: 'calculator' };
const THOUGHT: RunEvent = { type: 'thought', iteration: 1, text: 'hm' };
const STARTED: RunEvent = { type: 'tool.started', iteration: 1, call_id: 'c1', tool: 'pay', arguments: '{}' };

let opened: OpenDatabase;
let host: RunHost;
let count = 0;
beforeAll(async () => {
  opened = await openDatabase();
  host = new RunHost(opened.database);
});
afterAll(() => opened.close());

const newRun = () => newExecution(host, `run-${count++}`);
const again = (execution: RunExecution) => nextExecution(host, execution);
const stored = (runId: string) => storedEvents(host, runId);

function never(): Promise<never> {
  throw new Error('This must not happen again.');
}

describe('a step', () => {
  it('executes once; every later execution gets the journaled result, byte for byte', async () => {
    const value = {
      text: 'a\0b 🐦 \ud800 "quoted"\n',
      list: [1.5, null, true, { deep: 'é' }],
      big: 'x'.repeat(1_000_000),
    };
    const first = await newRun();
    expect(await first.context.step(STEP, async () => value)).toEqual(value);
    const second = await again(first);
    expect(await second.context.step(STEP, never)).toEqual(value);
    expect(second.context.isRecorded(STEP)).toBe(true);
    expect(await (await again(second)).context.step(STEP, never)).toEqual(value);
  });

  it('is recorded even if it returns undefined', async () => {
    const first = await newRun();
    await first.context.step(STEP, async () => undefined);
    expect(await (await again(first)).context.step(STEP, never)).toBeNull();
  });

  it('is not recorded when it rejects, and executes again', async () => {
    const first = await newRun();
    await expect(first.context.step(STEP, () => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
    const second = await again(first);
    expect(second.context.isRecorded(STEP)).toBe(false);
    expect(await second.context.step(STEP, async () => 'now')).toBe('now');
  });

  it('conflicts when it is requested with another subject', async () => {
    const first = await newRun();
    await first.context.step(STEP, async () => 1);
    const { context } = await again(first);
    await expect(context.step({ ...STEP, subject: 'weather' }, never)).rejects.toMatchObject({ code: 'STEP_CONFLICT' });
  });

  it.each(['a\ud800b', 'a\0b', 'ü🐦', 'x'.repeat(1000)])(
    'replays with a subject that a model made up (%#)',
    async (subject) => {
      const first = await newRun();
      await first.context.step({ ...STEP, subject }, async () => 1);
      expect(await (await again(first)).context.step({ ...STEP, subject }, never)).toBe(1);
    },
  );

  it('is recorded with the end of its run, not before, when it is the last one', async () => {
    const first = await newRun();
    await first.context.step(STEP, async () => 'answer', { isLast: () => true });
    expect(await host.journal.steps(first.run.id)).toEqual([]);
    await first.context.conclude(completed(first.run.id));
    expect(await host.journal.steps(first.run.id)).toMatchObject([{ name: 'tool:1:1', result: '"answer"' }]);
    expect(await stored(first.run.id)).toEqual(['1 run.started', '2 run.completed']);
  });
});

/** Updates the row of a run; refused while the run does not exist. */
function touch(runId: string) {
  return { sql: 'UPDATE run SET agent = ? WHERE id = ?', params: ['touched', runId], rows: 1 };
}

/** A companion whose statement succeeds from the given attempt on; logs its calls. */
function companionOf(runId: string, goodTry: number) {
  const received: string[] = [];
  let tries = 1;
  const companion: StepCompanion = {
    statements: () => [touch(tries < goodTry ? 'missing' : runId)],
    reconsider: async () => {
      received.push('reconsider');
      if (++tries > 3) throw new Error('hopeless');
    },
    committed: async () => void received.push('committed'),
    alone: never,
  };
  return { received, companion: () => companion };
}

describe('a step companion', () => {
  it('is rebuilt until its batch commits, without effect on the steps that share the batch', async () => {
    const first = await newRun();
    const { run, context } = first;
    const { received, companion } = companionOf(run.id, 3);
    const think = async () => context.emit(THOUGHT);
    await Promise.all([context.step(STEP, think, { companion }), context.step({ ...STEP, place: '1:2' }, think)]);
    expect(received).toEqual(['reconsider', 'reconsider', 'committed']);
    expect(context.signal.aborted).toBe(false);
    expect(await stored(run.id)).toEqual(['1 run.started', '2 thought', '3 thought']);
    expect(first.published.filter((item) => !item.startsWith('-'))).toEqual(['2 thought', '3 thought']);
    expect((await host.journal.steps(run.id)).map(({ name }) => name)).toEqual(['tool:1:1', 'tool:1:2']);
    expect(await host.journal.find(run.id)).toMatchObject({ agent: 'touched' });
  });

  it('leaves nothing recorded when it cannot be rebuilt; the run resumes later and repeats the step', async () => {
    const first = await newRun();
    const { received, companion } = companionOf(first.run.id, 99);
    const unavailable = { code: 'JOURNAL_UNAVAILABLE', cause: new Error('hopeless') };
    await expect(first.context.step(STEP, async () => 1, { companion })).rejects.toMatchObject(unavailable);
    expect(received).toEqual(['reconsider', 'reconsider', 'reconsider']);
    expect(first.context.signal.reason).toMatchObject({ code: 'JOURNAL_UNAVAILABLE' });
    expect(await host.journal.steps(first.run.id)).toEqual([]);
    expect(await (await again(first)).context.step(STEP, async () => 2)).toBe(2);
  });

  it('is not called when another process owns the run', async () => {
    const former = await newRun();
    await again(former);
    const { received, companion } = companionOf(former.run.id, 1);
    const late = former.context.step(STEP, async () => 1, { companion });
    await expect(late).rejects.toMatchObject({ code: 'RUN_FENCED' });
    expect(received).toEqual([]);
  });

  it('is not called when the step itself is refused', async () => {
    const { run, context } = await newRun();
    await context.step(STEP, async () => 1);
    const { received, companion } = companionOf(run.id, 1);
    const twice = context.step(STEP, async () => 2, { companion });
    await expect(twice).rejects.toMatchObject({ code: 'COMMIT_REFUSED' });
    expect(received).toEqual([]);
  });
});

describe('a value', () => {
  it('is computed once and recorded with the next batch', async () => {
    const first = await newRun();
    expect(await first.context.value('time', () => 42)).toBe(42);
    expect(await host.journal.steps(first.run.id)).toEqual([]);
    await first.context.step(STEP, async () => 1);
    const { context } = await again(first);
    expect(await context.value('time', never)).toBe(42);
  });
});

describe('a claim', () => {
  it('is granted once; a later execution gets "unknown" and emits no second event', async () => {
    const first = await newRun();
    expect(await first.context.claim('1:1', STARTED)).toBe('claimed');
    expect(await stored(first.run.id)).toEqual(['1 run.started', '2 tool.started']);
    const second = await again(first);
    expect(await second.context.claim('1:1', STARTED)).toBe('unknown');
    expect(second.context.isRecorded({ ...STEP, kind: 'claim' })).toBe(true);
    expect(await stored(first.run.id)).toEqual(['1 run.started', '2 tool.started']);
  });
});

describe('a run claimed by another execution', () => {
  it('rejects writes of its former owner and aborts that execution', async () => {
    const former = await newRun();
    const now = await again(former);
    former.context.emit(THOUGHT);
    await expect(former.context.step(STEP, async () => 'late')).rejects.toMatchObject({ code: 'RUN_FENCED' });
    expect(former.context.signal.reason).toMatchObject({ code: 'RUN_FENCED' });
    expect(former.published).toEqual([]);
    expect(await host.journal.steps(former.run.id)).toEqual([]);
    expect(await stored(former.run.id)).toEqual(['1 run.started']);
    expect(await now.context.step(STEP, async () => 'mine')).toBe('mine');
  });

  it.each(['conclude', 'handOver'] as const)('cannot be ended by its former owner (%s)', async (verb) => {
    const former = await newRun();
    await again(former);
    await expect(former.context[verb](completed(former.run.id))).rejects.toMatchObject({ code: 'RUN_FENCED' });
    expect(await host.journal.find(former.run.id)).toMatchObject({ status: 'running', epoch: 2 });
    expect(await stored(former.run.id)).toEqual(['1 run.started']);
  });
});

describe('the end of a run', () => {
  it('is refused as a whole when one of its statements is refused', async () => {
    const { run, context } = await newRun();
    await expect(context.conclude(completed(run.id, [touch('missing')]))).rejects.toMatchObject({
      code: 'COMMIT_REFUSED',
    });
    expect(context.signal.aborted).toBe(false);
    expect(await host.journal.find(run.id)).toMatchObject({ status: 'running' });
    expect(await stored(run.id)).toEqual(['1 run.started']);
  });
});

describe('attempts', () => {
  it('count crashes since the last recorded step', async () => {
    let one = await newRun();
    for (const attempts of [1, 2, 3]) {
      one = await again(one);
      one.context.emit({ type: 'run.resumed', run_id: one.run.id, attempt: one.run.epoch });
      await one.context.claim(`${attempts}`, STARTED).catch(never);
      expect(one.run.attempts).toBe(1);
    }
    for (const attempts of [1, 2, 3]) {
      one = await again(one);
      const { promise, resolve } = Promise.withResolvers<void>();
      host.bus.subscribe(one.run.id, () => resolve());
      one.context.emit({ type: 'run.resumed', run_id: one.run.id, attempt: one.run.epoch });
      await promise;
      expect(await host.journal.find(one.run.id)).toMatchObject({ attempts });
    }
    await one.context.step(STEP, async () => 1);
    expect(await host.journal.find(one.run.id)).toMatchObject({ attempts: 0 });
  });
});
