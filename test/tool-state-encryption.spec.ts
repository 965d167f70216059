import { beforeAll, expect, it } from 'vitest';
import { Cipher } from '../src/security/encryption/index.js';
import { DatabaseStateStore } from '../src/tool-state/backend/database-state-store.js';
import { StateCodec } from '../src/tool-state/backend/state-codec.js';
import { contextIdOf } from '../src/tool-state/context-id.factory.js';
import { describeWorlds, newKey, type PrivateWorld } from './support/private-world.js';
import { managerOf } from './support/state-stores.js';
import { testServers } from './support/test-databases.js';

const [K1, K2] = [newKey('k1'), newKey('k2')];
const KEY = { tenant: 'local', session: 's', tool: 'cart' };

describeWorlds('encryption of tool states', await testServers(), (current) => {
  let world: PrivateWorld;
  beforeAll(() => {
    world = current();
  });

  const id = contextIdOf(KEY);
  const states = () => {
    const cipher = world.jackdaw.app.get(Cipher, { strict: false });
    return managerOf(new DatabaseStateStore(world.database, new StateCodec({ cipher, isCompressed: true })));
  };
  const shown = async () => [
    await states().getState(id, 'business'),
    await states().getState(id, 'cache'),
    await states().getVersions(id),
    await states().getHistory(id, 9),
  ];

  it('re-encrypts all of them: from plain text to a key, then to another key', async () => {
    await world.start();
    await states().createContext(KEY);
    await states().setState(id, 'business', { bird: 'kingfisher' });
    await states().setState(id, 'business', { bird: 'kingfisher '.repeat(200) });
    await states().setState(id, 'cache', { bird: 'kingfisher' });
    await states().edit(id, (draft) => draft.note('execution_success', null, { bird: 'kingfisher' }));
    const before = await shown();
    expect(await world.stored()).toContain('kingfisher');
    await world.start(K1);
    expect(await shown()).toEqual(before);
    expect(await world.reencrypt()).toMatchObject({ failed: 0, isWhole: true });
    expect(await world.stored()).not.toContain('kingfisher');
    await world.start(`${K2},${K1}`);
    expect(await world.reencrypt()).toMatchObject({ failed: 0, isWhole: true });
    await world.start(K2, { ENCRYPTION_STRICT: 'true' });
    expect(await shown()).toEqual(before);
    expect(await world.refusal(K1)).toMatch(/ENCRYPTION_KEYS lacks a key/);
    await world.start(K2);
    await world.database.commit([
      { sql: `UPDATE tool_state_entry SET version = 1 WHERE context_id = ? AND type = 'business'`, params: [id] },
    ]);
    await expect(states().getState(id, 'business')).rejects.toMatchObject({ code: 'DATA_TAMPERED' });
  });
});
