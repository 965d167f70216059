import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { loadConfig } from '../../config/index.js';
import { openDatabase, type OpenDatabase } from '../../../test/support/run-host.js';
import { NodeRegistry } from './node.registry.js';
import { RunOfferService } from './run-offer.service.js';
import { RunQueue } from './run-queue.js';
import type { RunRef } from './run-ref.types.js';

/** A queue that answers when the test says so. */
class SlowQueue extends RunQueue {
  readonly added = Promise.withResolvers<void>();
  override start = () => Promise.resolve();
  override startEarlier = () => Promise.resolve();
  override add = () => this.added.promise;
  override answers = () => Promise.resolve(false);
  override pause = () => Promise.resolve();
  override close = () => Promise.resolve();
}

const RUN: RunRef = { id: 'r', epoch: 1, kind: 'agent', loopVersion: 1, priority: 0 };
let opened: OpenDatabase;
let queue: SlowQueue;
let nodes: NodeRegistry;
let offers: RunOfferService;
let outcome: 'done' | 'full';
const taken: string[] = [];
beforeEach(async () => {
  opened = await openDatabase();
  queue = new SlowQueue();
  nodes = new NodeRegistry(opened.database, loadConfig({ env: {} }).config.run);
  offers = new RunOfferService(queue, nodes);
  taken.length = 0;
  outcome = 'full';
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  offers.start(
    (id) => {
      taken.push(id);
      return Promise.resolve(outcome);
    },
    () => true,
  );
});
afterEach(async () => {
  vi.useRealTimers();
  await opened.close();
});

/** Offers the run and waits until the queue counts as unavailable. */
async function offerTooLate(): Promise<void> {
  const offered = offers.offer([RUN]);
  await vi.advanceTimersByTimeAsync(1_000);
  await offered;
}

it('executes a run here while the queue does not answer, once there is capacity', async () => {
  await offerTooLate();
  await vi.advanceTimersByTimeAsync(500);
  expect([taken, nodes.isCutOff]).toEqual([['r', 'r', 'r'], true]);
  outcome = 'done';
  await vi.advanceTimersByTimeAsync(1_000);
  expect(taken).toHaveLength(4);
});

it('leaves a run to the queue that has it after all', async () => {
  await offerTooLate();
  queue.added.resolve();
  await vi.advanceTimersByTimeAsync(1_000);
  expect([taken, nodes.isCutOff]).toEqual([['r'], false]);
});

it('executes a run here whose enqueueing fails late', async () => {
  await offerTooLate();
  queue.added.reject(new Error('closed'));
  outcome = 'done';
  await vi.advanceTimersByTimeAsync(1_000);
  expect(taken).toEqual(['r', 'r']);
});
