import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Logger } from '@nestjs/common';
import { loadConfig } from '../src/config/index.js';
import { openCache, type Cache } from '../src/cache/index.js';
import type { TurnArchive } from '../src/session/index.js';
import type { RunMemory } from '../src/session/memory/index.js';
import {
  cacheContract,
  memoryContract,
  sharedTurnArchiveContract,
  stateStoreContract,
  turnArchiveContract,
  type ContractCase,
} from '../src/testing/index.js';
import type { StateStore } from '../src/tool-state/index.js';
import { ALICE, openDatabase, type OpenDatabase } from './support/run-host.js';
import { sessionsOn } from './support/session-host.js';
import { describeStates, stateKinds } from './support/state-stores.js';
import { testRedisUrl } from './support/test-databases.js';
import { turnPlaces } from './support/turn-archives.js';

Logger.overrideLogger(false);
const redisUrl = await testRedisUrl();
const { places, clear } = await turnPlaces();
afterAll(clear);

/** Runs a suite on an implementation. Without a reachable server it is skipped by name, and fails in CI. */
function describeContract<T>(
  name: string,
  cases: readonly ContractCase<T>[],
  open: () => Promise<T>,
  answers = true,
): void {
  (answers || process.env['CI'] ? describe : describe.skip)(name, () => {
    it.each([...cases])('$name', async ({ run }) => {
      if (!answers) throw new Error(`No server for ${name} answers: start it, or set its TEST_…_URL.`);
      await expect(run(open)).resolves.toBeUndefined();
    });
  });
}

/** An open implementation that its owner closes. */
function shared<T extends object>(opened: T): T {
  return new Proxy(opened, {
    get: (target, name) => {
      if (name === 'close') return undefined;
      const found: unknown = Reflect.get(target, name);
      return typeof found === 'function' ? (found.bind(target) as unknown) : found;
    },
    has: (target, name) => name !== 'close' && Reflect.has(target, name),
  });
}

function openConfigured(env: Record<string, string>): Promise<Cache> {
  const { config } = loadConfig({ env });
  return openCache(config.cache, config.database) as Promise<Cache>;
}

describeContract('the cache in memory', cacheContract, () => openConfigured({ LLM_CACHE: 'memory' }));
const redisEnv = { LLM_CACHE: 'redis', REDIS_URL: redisUrl ?? '' };
describeContract('the cache in Redis', cacheContract, () => openConfigured(redisEnv), redisUrl !== null);

for (const place of places) {
  const { name, answers, isShared } = place;
  describe(`the turn archive in ${name}`, () => {
    let archive: TurnArchive;
    beforeAll(async () => {
      if (answers) archive = await place.open();
    });
    afterAll(() => archive?.close());
    const cases = [...turnArchiveContract, ...(isShared ? sharedTurnArchiveContract : [])];
    describeContract(name, cases, async () => shared(archive), answers);
  });
}

describeStates('the state store', await stateKinds(), (place) => {
  let store: StateStore;
  beforeAll(async () => {
    store = await place().open();
  });
  it.each([...stateStoreContract])('$name', async ({ run }) => {
    await expect(run(() => shared(store))).resolves.toBeUndefined();
  });
});

describe('the memory of a program', () => {
  let journal: OpenDatabase;
  beforeAll(async () => {
    journal = await openDatabase();
  });
  afterAll(() => journal.close());
  const open = (): Promise<RunMemory> => sessionsOn(journal.database).memories.create(ALICE);
  describeContract('the memory', memoryContract, open);
});

describe('a contract', () => {
  const faults: readonly [string, ContractCase<never>[], object][] = [
    ['cache', cacheContract as never, { get: async () => 'stale', set: async () => undefined }],
    ['memory', memoryContract as never, { addMessage: async () => undefined, getContext: async () => ['text'] }],
  ];
  it.each(faults)('of a %s rejects a faulty implementation', async (_name, cases, faulty) => {
    const outcomes = await Promise.allSettled(cases.map(({ run }) => run(() => faulty as never)));
    expect(outcomes.filter(({ status }) => status === 'rejected').length).toBeGreaterThan(1);
  });
});
