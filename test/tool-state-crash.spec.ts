import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { Logger } from '@nestjs/common';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { loadConfig } from '../src/config/index.js';
import { contextIdOf } from '../src/tool-state/context-id.factory.js';
import { DatabaseStateStore } from '../src/tool-state/backend/database-state-store.js';
import { FileStateStore } from '../src/tool-state/backend/file-state-store.js';
import { StateCodec } from '../src/tool-state/backend/state-codec.js';
import { openSqliteStateStore } from '../src/tool-state/backend/durable-backend.factory.js';
import type { StateStore } from '../src/tool-state/backend/state-store.js';
import { IS_LONG_FORM } from './support/long-form.js';
import { buildIfStale, killAll, program, ServerProcess } from './support/process.js';
import { openDatabase } from './support/run-host.js';
import { testServers, type TestDatabase } from './support/test-databases.js';

const ROUNDS = IS_LONG_FORM ? 100 : 3;
/** A process is killed at a random moment after up to this number of changes. */
const MOST_CHANGES = 12;
const MOST_MS = 12;

Logger.overrideLogger(false);
const TIMEOUT_MS = IS_LONG_FORM ? 3_600_000 : 600_000;
vi.setConfig({ testTimeout: TIMEOUT_MS, hookTimeout: TIMEOUT_MS });
const folder = mkdtempSync(join(tmpdir(), 'jackdaw-state-crash-'));
const postgres = (await testServers()).find(({ kind }) => kind === 'postgres')!;
const id = contextIdOf({ tenant: 't', session: 's', tool: 'writer' });

beforeAll(() => buildIfStale());
afterAll(async () => {
  await killAll();
  rmSync(folder, { recursive: true });
});

interface Place {
  readonly name: string;
  readonly answers: boolean;
  /** The environment value that the killed process receives: the location of the store. */
  where(): Promise<string>;
  open(where: string): Promise<StateStore>;
  end(): Promise<void>;
}

async function openPostgres(where: string): Promise<StateStore> {
  const opened = await openDatabase({ DATABASE_URL: where });
  return new DatabaseStateStore(opened.database, new StateCodec(), () => opened.close());
}

let database: TestDatabase | undefined;
const nothing = async () => undefined;
const places: readonly Place[] = [
  {
    name: 'json',
    answers: true,
    where: async () => join(folder, 'json'),
    open: (where) => FileStateStore.open(where),
    end: nothing,
  },
  {
    name: 'sqlite',
    answers: true,
    where: async () => join(folder, 'states.db'),
    open: (where) => openSqliteStateStore(loadConfig({ env: {} }).config.database, where),
    end: nothing,
  },
  {
    name: 'postgres',
    answers: postgres.answers,
    where: async () => {
      database = await postgres.create();
      await (await openPostgres(database.url)).close();
      return database.url;
    },
    open: openPostgres,
    end: async () => database?.drop(),
  },
];

/** The text that `state-writer.mjs` writes. */
const textOf = (n: number) => `${n};`.repeat(n % 5 === 0 ? 40_000 : 3);
const downFrom = (n: number, count: number) => Array.from({ length: Math.min(n, count) }, (_, at) => n - at);
const jsonOf = (n: number) => JSON.stringify({ n, text: textOf(n) });

/** A consistent read of a context: a server may still execute statements that the dead process sent. */
async function read(store: StateStore) {
  for (;;) {
    const context = await store.load(id);
    const [versions, history] = await Promise.all([store.versions(id), store.history(id, 99)]);
    if ((await store.load(id))?.revision === context?.revision) return { context, versions, history };
  }
}

/** An absent state. */
const NOTHING = { json: '{}', version: 0 };

/**
 * Expects a complete state: the acknowledged change or the one in progress. @returns the number of the stored change
 */
function expectWhole({ context, versions, history }: Awaited<ReturnType<typeof read>>, acknowledged: number): number {
  const { business = NOTHING, cache = NOTHING } = context?.states ?? {};
  const { n = 0 } = JSON.parse(cache.json) as { n?: number };
  expect([acknowledged, acknowledged + 1]).toContain(n);
  // One comparison, since the diff of a long text is unreadable.
  expect(business.json === jsonOf(n)).toBe(n > 0);
  expect([business.version, cache.version]).toEqual([n, n]);
  expect(versions.map(({ version }) => version)).toEqual(downFrom(n, 4));
  expect(versions.every(({ version, json }) => json === jsonOf(version))).toBe(true);
  expect(history.map((entry) => [entry.n, entry.by])).toEqual(downFrom(n, 7).map((at) => [at, `call-${at}`]));
  return n;
}

/** @returns the number of the last acknowledged change */
async function writeUntilKilled(env: Readonly<Record<string, string>>): Promise<number> {
  const writer = ServerProcess.start(program('state-writer'), env);
  const changes = Math.floor(Math.random() * (MOST_CHANGES + 1));
  await writer.waitForLine(changes === 0 ? 'ready ' : `written ${changes} `);
  await delay(Math.random() * MOST_MS);
  await writer.kill();
  return Number(writer.lines.at(-1)!.split(' ').at(-1));
}

/** @returns the number of the stored change */
async function expectWholeIn(place: Place, where: string, acknowledged: number): Promise<number> {
  const store = await place.open(where);
  try {
    return expectWhole(await read(store), acknowledged);
  } finally {
    await store.close();
  }
}

for (const place of places) {
  const isLeftOut = !place.answers && !process.env['CI'];
  (isLeftOut ? describe.skip : describe)(`states of tools in ${place.name}, kill -9 while they are written`, () => {
    it(`are complete, and no acknowledged change is lost, ${ROUNDS} times`, async () => {
      let [acknowledgedOnly, alsoTheNext] = [0, 0];
      try {
        const where = await place.where();
        for (let round = 0; round < ROUNDS; round++) {
          const acknowledged = await writeUntilKilled({ PLACE: place.name, WHERE: where });
          const there = await expectWholeIn(place, where, acknowledged);
          if (there === acknowledged) acknowledgedOnly++;
          else alsoTheNext++;
        }
      } finally {
        await place.end();
      }
      if (IS_LONG_FORM) print(place.name, acknowledgedOnly, alsoTheNext);
    });
  });
}

function print(name: string, acknowledgedOnly: number, alsoTheNext: number): void {
  process.stderr.write(
    `${name}: ${ROUNDS} kills; the last acknowledged change was there ${acknowledgedOnly} times, the next one too ${alsoTheNext} times\n`,
  );
}
