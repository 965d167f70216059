import { describe, expect, it } from 'vitest';
import * as fc from 'fast-check';
import type { RunRecord } from '../run.types.js';
import { LocalRunQueue, type QueuedRun } from './local-run-queue.js';

function queued(id: string): QueuedRun {
  return { run: { id, epoch: 0 } as RunRecord, resolve: () => undefined, reject: () => undefined };
}

const FREE = () => true;

describe('the queue of sessions', () => {
  it('starts the runs of a session in order, one attempt at a time, for any order of events', async () => {
    const sessions = fc.constantFrom('s', 't');
    await fc.assert(
      fc.asyncProperty(fc.array(sessions, { maxLength: 12 }), fc.scheduler(), async (slots, scheduler) => {
        const open = new Map<string, string>();
        const started: string[] = [];
        let trying = 0;
        const queue: LocalRunQueue = new LocalRunQueue(async ({ run }) => {
          const slot = run.id[0]!;
          trying++;
          await scheduler.schedule(Promise.resolve(), `try ${run.id}`);
          trying--;
          if (open.has(slot)) return 'busy';
          open.set(slot, run.id);
          started.push(run.id);
          void scheduler.schedule(Promise.resolve(), `end ${run.id}`).then(() => {
            open.delete(slot);
            return queue.pump(slot);
          });
          return 'started';
        }, FREE);
        const ids = slots.map((slot, i) => `${slot}${i}`);
        for (const id of ids) {
          void scheduler.schedule(Promise.resolve(), `add ${id}`).then(() => queue.add(id[0]!, queued(id)));
        }
        await scheduler.waitIdle();
        expect(trying).toBe(0);
        expect([...started].toSorted()).toEqual([...ids].toSorted());
        for (const id of ids) expect(queue.has(id)).toBe(false);
        expect(queue.clear()).toEqual([]);
      }),
    );
  });

  it('tries the next run when the first one can never start', async () => {
    const tried: string[] = [];
    const { promise, resolve } = Promise.withResolvers<void>();
    const queue = new LocalRunQueue(async ({ run }) => {
      tried.push(run.id);
      if (run.id !== 'c') return 'gone';
      resolve();
      return 'started';
    }, FREE);
    for (const id of ['a', 'b', 'c']) queue.add('s', queued(id));
    await promise;
    expect(tried).toEqual(['a', 'b', 'c']);
  });
});
