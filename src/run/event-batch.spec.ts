import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { newExecution, storedEvents } from '../../test/support/run-execution.js';
import { completed, openDatabase, RunHost, type OpenDatabase } from '../../test/support/run-host.js';
import type { JournaledRunContext } from './context/journaled-run-context.js';
import type { StepName } from './context/run-context.js';
import type { RunEvent } from './event/run-event.types.js';

const STEP: StepName = { kind: 'tool', place: '1:1', subject: 'calculator' };
const THOUGHT: RunEvent = { type: 'thought', iteration: 1, text: 'hm' };
const DELTA: RunEvent = { type: 'message.delta', iteration: 1, text: 'a' };
const COMPLETED: RunEvent = {
  type: 'tool.completed',
  iteration: 1,
  call_id: 'c1',
  tool: 'look',
  success: true,
  result: 1,
  execution_time_ms: 1,
};
const STARTED: RunEvent = { type: 'tool.started', iteration: 1, call_id: 'c1', tool: 'look', arguments: '{}' };

const nextTick = () => new Promise<void>((resolve) => process.nextTick(resolve));

let opened: OpenDatabase;
let host: RunHost;
let count = 0;
beforeAll(async () => {
  opened = await openDatabase();
  host = new RunHost(opened.database);
});
afterEach(() => void vi.restoreAllMocks());
afterAll(() => opened.close());

const newRun = () => newExecution(host, `run-${count++}`);
const stored = (runId: string) => storedEvents(host, runId);

describe('events', () => {
  it('are numbered without gaps and published only once durable, with live ones in their place', async () => {
    const { run, context, published } = await newRun();
    context.emit({ type: 'message.delta', iteration: 1, text: 'a' });
    expect(published).toEqual(['- message.delta']);
    const step = context.step(STEP, async () => {
      context.emit(THOUGHT);
      context.emit({ type: 'message.delta', iteration: 1, text: 'b' });
      context.emit(THOUGHT);
    });
    expect(published).toEqual(['- message.delta', '- step.started']);
    await step;
    context.emit({ type: 'message.delta', iteration: 1, text: 'c' });
    expect(published.slice(2)).toEqual(['2 thought', '- message.delta', '3 thought', '- message.delta']);
    expect(await stored(run.id)).toEqual(['1 run.started', '2 thought', '3 thought']);
  });

  it('keep their order when batches are committed concurrently', async () => {
    const { run, context, published } = await newRun();
    const places = ['1:1', '1:2', '1:3'];
    const steps = places.map((place) =>
      context.step({ ...STEP, place }, async () => {
        context.emit(THOUGHT);
        return place;
      }),
    );
    context.emit({ type: 'message.delta', iteration: 1, text: 'live' });
    expect(await Promise.all(steps)).toEqual(places);
    const journaled = published.filter((item) => !item.startsWith('-'));
    expect(journaled).toEqual(['2 thought', '3 thought', '4 thought']);
    expect(await stored(run.id)).toEqual(['1 run.started', ...journaled]);
  });

  it('are committed by a timer when no step commits them', async () => {
    const { run, context } = await newRun();
    const { promise, resolve } = Promise.withResolvers<void>();
    host.bus.subscribe(run.id, () => resolve());
    context.emit(THOUGHT);
    await promise;
    expect(await stored(run.id)).toEqual(['1 run.started', '2 thought']);
  });

  it('share the batch of a step that ends soon', async () => {
    const { run, context, published } = await newRun();
    const commits = vi.spyOn(opened.database, 'commit');
    context.emit(STARTED);
    await context.step(STEP, () => nextTurn());
    expect(commits).toHaveBeenCalledTimes(1);
    expect(published).toEqual(['2 tool.started', '- step.started']);
    expect(await stored(run.id)).toEqual(['1 run.started', '2 tool.started']);
  });

  it('do not wait for a step when a live event is behind them', async () => {
    const { context, published } = await newRun();
    context.emit(STARTED);
    const commits = vi.spyOn(opened.database, 'commit');
    context.emit({ type: 'tool.progress', iteration: 1, call_id: 'c1', tool: 'look', progress: 1 });
    await nextTurn();
    expect(commits).toHaveBeenCalledTimes(1);
    await nextTurn();
    expect(published).toEqual(['2 tool.started', '- tool.progress']);
  });

  it('are not reported as durable when the batch they share with a claim is lost', async () => {
    const { context } = await newRun();
    const commit = opened.database.commit.bind(opened.database);
    vi.spyOn(opened.database, 'commit').mockImplementation(async (batch) => {
      if (JSON.stringify(batch).includes('claim:1:1')) throw new Error('the connection is lost');
      return commit(batch);
    });
    context.emit(THOUGHT);
    context.emit(DELTA);
    await nextTick();
    await nextTick();
    // One batch is being committed, and the next one waits when the claim arrives.
    context.emit(STARTED);
    context.emit(DELTA);
    await nextTick();
    await nextTick();
    await expect(context.claim('1:1', COMPLETED)).rejects.toMatchObject({ code: 'JOURNAL_UNAVAILABLE' });
  });

  describe.each(Array.from({ length: 12 }, (_, ticks) => ticks))('%i ticks after another batch', (ticks) => {
    /**
     * Runs `work` the given number of ticks after one batch is durable, while another one waits to be taken.
     * @returns the committed batches as JSON, and how many were durable when `work` was done
     */
    async function after(work: (context: JournaledRunContext) => Promise<unknown>) {
      const { run, context } = await newRun();
      const batches: string[] = [];
      let durable = 0;
      const commit = opened.database.commit.bind(opened.database);
      vi.spyOn(opened.database, 'commit').mockImplementation(async (batch) => {
        batches.push(JSON.stringify(batch));
        await commit(batch);
        durable++;
      });
      const { promise: isCommitted, resolve } = Promise.withResolvers<void>();
      host.bus.subscribe(run.id, ({ event }) => event.type === 'thought' && resolve());
      const done = isCommitted.then(async () => {
        for (let tick = 0; tick < ticks; tick++) await Promise.resolve();
        await work(context);
        return durable;
      });
      context.emit(THOUGHT);
      context.emit(DELTA);
      await nextTick();
      await nextTick();
      // Waits until the thought is committed.
      context.emit(STARTED);
      context.emit(DELTA);
      return { durable: await done, batches };
    }

    const having = (batches: readonly string[], text: string) => batches.filter((batch) => batch.includes(text));

    it('puts a step and its events into one batch', async () => {
      const { durable, batches } = await after((context) => context.step(STEP, async () => context.emit(COMPLETED)));
      expect(having(batches, 'tool.completed')).toEqual(having(batches, 'INSERT INTO run_step'));
      expect(durable).toBe(batches.length);
    });

    it('makes a claim durable before it resolves', async () => {
      const { durable, batches } = await after((context) => context.claim('1:1', COMPLETED));
      expect(having(batches, 'tool.completed')).toEqual(having(batches, 'claim:1:1'));
      expect(durable).toBe(batches.length);
    });

    it('puts events emitted with the end of a run into its batch', async () => {
      const { batches } = await after((context) => {
        context.emitWithEnd(COMPLETED);
        return context.conclude(completed(context.runId));
      });
      expect(having(batches, 'tool.completed')).toEqual(having(batches, 'UPDATE run SET status'));
    });

    it('puts the end of a run and its event into one batch', async () => {
      const { batches } = await after((context) => context.conclude(completed(context.runId)));
      expect(having(batches, 'run.completed')).toEqual(having(batches, 'UPDATE run SET status'));
    });
  });
});
