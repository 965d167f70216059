import { afterEach, beforeEach, describe, expect, it, vi, type MockInstance } from 'vitest';
import { openDatabase, type OpenDatabase } from '../../../test/support/run-host.js';
import { loadConfig } from '../../config/index.js';
import { NodeRegistry } from './node.registry.js';

const LEASE_MS = 60_000;
const { config } = loadConfig({ env: { CLUSTER_LEASE_MS: String(LEASE_MS) } });

let opened: OpenDatabase;
let frozen: NodeRegistry;
let other: NodeRegistry;
let clock: MockInstance<typeof performance.now>;
beforeEach(async () => {
  opened = await openDatabase();
  frozen = new NodeRegistry(opened.database, config.run);
  other = new NodeRegistry(opened.database, config.run);
  for (const node of [frozen, other]) await node.start(['queue']);
  await other.refresh();
  const now = performance.now();
  clock = vi.spyOn(performance, 'now').mockReturnValue(now);
});
afterEach(async () => {
  clock.mockRestore();
  for (const node of [frozen, other]) await node.stop();
  await opened.close();
});

/** Advances the clock without firing timers: no process writes a heartbeat. */
async function freeze(): Promise<void> {
  clock.mockReturnValue(performance.now() + 2 * LEASE_MS);
  await other.refresh();
}

describe('a process that was frozen for longer than its lease', () => {
  it('counts as dead for the others, and is not sure of its runs', async () => {
    expect(other.live()).toContain(frozen.node);
    await freeze();
    expect(other.live()).not.toContain(frozen.node);
    expect(frozen.isSure()).toBe(false);
  });

  it('registers as alive again before it starts a run', async () => {
    await freeze();
    await frozen.renew();
    expect(frozen.isSure()).toBe(true);
    await other.refresh();
    expect(other.live()).toContain(frozen.node);
  });

  it('takes no live process for dead', async () => {
    await freeze();
    await other.renew();
    expect(frozen.live()).not.toContain(other.node);
    await frozen.renew();
    expect(frozen.live()).toContain(other.node);
  });
});
