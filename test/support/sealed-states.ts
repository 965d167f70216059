import type { Database } from '../../src/persistence/index.js';
import { insert, type Statement } from '../../src/persistence/statement/index.js';
import type { Cipher } from '../../src/security/encryption/index.js';
import { ContextDraft } from '../../src/tool-state/context-draft.js';
import { DatabaseStateStore } from '../../src/tool-state/backend/database-state-store.js';
import { StateCodec } from '../../src/tool-state/backend/state-codec.js';
import { changePlace } from '../../src/tool-state/backend/state-place.factory.js';
import type { ContextKey } from '../../src/tool-state/tool-state.types.js';
import { POLICY } from './state-stores.js';

const SAME = { same: 'same' };

/** A new context with rows in each of its tables; two such contexts are as equal as possible. */
export function stateStatements(database: Database, cipher: Cipher, key: ContextKey): Statement[] {
  const codec = new StateCodec({ cipher });
  const store = new DatabaseStateStore(database, codec);
  const draft = new ContextDraft(null, key, POLICY, 1_764_000_000_123);
  for (const type of ['business', 'cache'] as const) draft.put(type, SAME);
  for (const kind of ['execution_start', 'execution_success'] as const) draft.note(kind, null, SAME);
  const write = draft.toWrite();
  const older = { ...write, changed: [], history: [], version: { ...write.version!, version: 2 } };
  const { tenant } = key;
  const { id } = draft;
  return [
    ...store.statements(write),
    ...store.statements(older).slice(1),
    ...['1', '2'].map((change) =>
      insert('tool_state_change', {
        id: `${id}-${change}`,
        context_id: id,
        tenant,
        data: codec.seal(JSON.stringify(SAME), changePlace({ tenant, id }, `${id}-${change}`)),
        created_at: 1,
      }),
    ),
  ];
}
