import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Logger } from '@nestjs/common';
import { openDatabase, type OpenDatabase } from '../../../test/support/run-host.js';
import { PLAIN_CIPHER } from '../../security/encryption/index.js';
import { contextIdOf } from '../context-id.factory.js';
import type { StateChange } from '../state-change.mapper.js';
import { MemoryStateStore, VolatileStateBackend } from '../state-backend.registry.js';
import { ProjectedStateBackend, StateOutbox } from './projected-state-backend.js';
import type { StatePolicy } from '../tool-state.types.js';
import type { StateData } from '../../tool/stateful/index.js';
import type { StateBackend } from './state-backend.js';

Logger.overrideLogger(false);
const KEY = { tenant: 'a', session: 's', tool: 'count' };
const ID = contextIdOf(KEY);
const POLICY: StatePolicy = {
  ttlMs: null,
  idleMs: null,
  maxStateBytes: 100,
  maxHistory: 100,
  maxVersions: 10,
  maxContextsPerSession: null,
  conflict: 'error',
};

let opened: OpenDatabase;
beforeAll(async () => {
  opened = await openDatabase();
});
afterAll(() => opened.close());

function changeTo(data: StateData, n = 1): StateChange {
  return {
    id: `run:tool:${n}:1`,
    key: KEY,
    isOfRun: false,
    basedOn: n - 1,
    wanted: { business: { data, keys: Object.keys(data) }, sides: { cache: { data } }, held: { 'cookie:a': n } },
    startedAt: 1,
    endedAt: 2,
    call: {},
    outcome: { kind: 'success', detail: { elapsed_ms: 1 } },
  };
}

/** Records a change as a run does. @param meanwhile state written concurrently, before the commit */
async function record(
  backend: StateBackend,
  change: StateChange,
  policy: StatePolicy,
  meanwhile: StateData,
): Promise<void> {
  const manager = backend.manager(POLICY);
  const companion = backend.companion(change, policy, await manager.open(ID, change));
  await manager.createContext(KEY);
  await manager.setState(ID, 'business', meanwhile);
  const statements = companion.statements();
  if (statements.length > 0) await opened.database.commit(statements);
  await companion.committed();
}

const backends: readonly (readonly [string, () => StateBackend])[] = [
  ['in memory', () => new VolatileStateBackend('memory', new MemoryStateStore())],
  [
    'beside the journal',
    () => {
      const changes = new StateOutbox(opened.database, PLAIN_CIPHER);
      return new ProjectedStateBackend('persistent', new MemoryStateStore(), changes, true);
    },
  ],
];

describe.each(backends)('a recorded change %s that can no longer be applied', (_, newBackend) => {
  const theirs = { theirs: 1 };
  const cases: readonly (readonly [string, StatePolicy, StateData])[] = [
    ['TOOL_STATE_CONFLICT', POLICY, { mine: 1 }],
    ['TOOL_STATE_TOO_LARGE', { ...POLICY, conflict: 'merge' }, { mine: 'x'.repeat(85) }],
  ];

  it.each(cases)(
    'is dropped except for held values, and recorded as an error of its call: %s',
    async (code, policy, data) => {
      const backend = newBackend();
      await record(backend, changeTo(data), policy, theirs);
      await backend.catchUp(ID);
      const manager = backend.manager(POLICY);
      expect((await manager.getState(ID, 'business'))?.data).toEqual(theirs);
      expect(await manager.getState(ID, 'cache')).toBeNull();
      expect((await manager.open(ID)).held).toEqual({ 'cookie:a': 1 });
      const [end] = await manager.getHistory(ID, 10);
      expect(end).toMatchObject({ kind: 'execution_error', by: 'run:tool:1:1', detail: { code, elapsed_ms: 1 } });
      expect((await manager.getState(ID, 'connection'))?.data).toMatchObject({ error_count: 1 });
    },
  );

  it('does not block the next change', async () => {
    const backend = newBackend();
    await record(backend, changeTo({ mine: 1 }), POLICY, theirs);
    await backend.catchUp(ID);
    const next = changeTo({ mine: 2 }, 2);
    const companion = backend.companion(next, POLICY, await backend.manager(POLICY).open(ID));
    const statements = companion.statements();
    if (statements.length > 0) await opened.database.commit(statements);
    await companion.committed();
    expect((await backend.manager(POLICY).getState(ID, 'business'))?.data).toEqual({ mine: 2 });
  });
});
