import { afterAll, beforeAll, expect, it } from 'vitest';
import { openDatabase, type OpenDatabase } from '../../../test/support/run-host.js';
import { gate } from '../../../test/support/jackdaw.js';
import { PLAIN_CIPHER } from '../../security/encryption/index.js';
import { contextIdOf } from '../context-id.factory.js';
import type { StateChange } from '../state-change.mapper.js';
import { MemoryStateStore } from '../state-backend.registry.js';
import { ProjectedStateBackend, StateOutbox, type StateOwner } from './projected-state-backend.js';
import type { StatePolicy } from '../tool-state.types.js';

const KEY = { tenant: 'a', session: 's', tool: 'count' };
const ID = contextIdOf(KEY);
const POLICY: StatePolicy = {
  ttlMs: null,
  idleMs: null,
  maxStateBytes: 1000,
  maxHistory: 100,
  maxVersions: 10,
  maxContextsPerSession: null,
  conflict: 'last_write_wins',
};

let opened: OpenDatabase;
beforeAll(async () => {
  opened = await openDatabase();
});
afterAll(() => opened.close());

function change(seq: number): StateChange {
  return {
    id: `run:tool:${seq}:1`,
    key: KEY,
    isOfRun: false,
    basedOn: seq - 1,
    wanted: { business: { data: { count: seq }, keys: ['count'] }, sides: {} },
    startedAt: 1,
    endedAt: 2,
    call: {},
    outcome: { kind: 'success', detail: {} },
  };
}

/** Reads the pending changes, then blocks until the test continues. */
class FrozenOutbox extends StateOutbox {
  readonly frozen = gate();
  readonly hasRead = gate();

  override async pending(owner: StateOwner) {
    const rows = await super.pending(owner);
    this.hasRead.open();
    await this.frozen.opened;
    return rows;
  }
}

it('a late catch-up does not apply changes again that another process has applied', async () => {
  const store = new MemoryStateStore();
  const changes = new StateOutbox(opened.database, PLAIN_CIPHER);
  const slow = new FrozenOutbox(opened.database, PLAIN_CIPHER);
  const backend = new ProjectedStateBackend('distributed', store, changes, false);
  const other = new ProjectedStateBackend('distributed', store, slow, false);
  const journal = async (n: number) => {
    const draft = await backend.manager(POLICY).open(ID, change(n));
    await opened.database.commit([...backend.companion(change(n), POLICY, draft).statements()]);
  };

  await journal(1);
  const late = other.catchUp(ID);
  await slow.hasRead.opened;
  await backend.catchUp(ID);
  await journal(2);
  await backend.catchUp(ID);
  slow.frozen.open();
  await late;

  expect((await store.load(ID))?.states.business).toMatchObject({ json: '{"count":2}', version: 2 });
  expect((await store.history(ID, 10)).map(({ by }) => by)).toEqual([
    'run:tool:2:1',
    'run:tool:2:1',
    'run:tool:1:1',
    'run:tool:1:1',
  ]);
  expect(await changes.pending({ context_id: ID })).toEqual([]);
});
