import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { aRun, openDatabase, RunHost, type OpenDatabase } from '../../../test/support/run-host.js';
import { loadConfig } from '../../config/index.js';
import { RunCapacityRegistry } from '../admission/run-capacity.registry.js';
import { RunLoadStore } from '../admission/run-admission.service.js';
import { AwaitedRunRegistry } from './awaited-run.registry.js';
import { NodeRegistry } from './node.registry.js';
import { OpenRunStore } from './open-run.store.js';
import { RunTakeService } from './run-take.service.js';
import { SuspectRunService } from './suspect-run.service.js';
import { runJournal } from '../../../test/support/run-parts.js';

const { config } = loadConfig({ env: { CLUSTER_LEASE_MS: '60000' } });

let opened: OpenDatabase;
let here: NodeRegistry;
let other: NodeRegistry;
let taker: RunTakeService;
let host: RunHost;
beforeEach(async () => {
  opened = await openDatabase();
  host = new RunHost(opened.database);
  here = new NodeRegistry(opened.database, config.run);
  other = new NodeRegistry(opened.database, config.run);
  await here.start(['queue']);
  const limits = {
    admission: host.admission,
    capacity: new RunCapacityRegistry(new RunLoadStore(opened.database), config.run, config.database),
  };
  const journal = runJournal(opened.database, { lease: here });
  const open = new OpenRunStore(opened.database);
  const suspects = new SuspectRunService(journal, host.bus, open, config.run);
  const awaited = new AwaitedRunRegistry(host.bus);
  taker = new RunTakeService(journal, host.executor, host.bus, here, awaited, { ...limits, suspects });
});
afterEach(async () => {
  for (const node of [here, other]) await node.stop();
  await opened.close();
});

/** @returns its epoch afterwards: 1 unless it was claimed */
async function epochAfterTake(id: string): Promise<number> {
  await taker.take(id);
  return (await host.journal.find(id))!.epoch;
}

describe('a run of another process', () => {
  it('is left to an owner that joined a moment ago and is not known here yet', async () => {
    await other.start(['queue']);
    await runJournal(opened.database, { lease: other }).create(aRun('r'), 'running', Date.now());
    expect(here.live()).not.toContain(other.node);
    expect(await epochAfterTake('r')).toBe(1);
  });

  it('is claimed after its owner has left', async () => {
    await other.start(['queue']);
    await runJournal(opened.database, { lease: other }).create(aRun('r'), 'running', Date.now());
    await other.stop();
    expect(await epochAfterTake('r')).toBe(2);
    expect(host.executed).toEqual(['r']);
  });
});
