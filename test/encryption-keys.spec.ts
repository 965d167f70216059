import { beforeAll, expect, it } from 'vitest';
import { describeWorlds, newKey, type PrivateWorld } from './support/private-world.js';
import { testServers } from './support/test-databases.js';

const [K1, OTHER_K1, K2] = [newKey('k1'), newKey('k1'), newKey('k2')];
const REFUSED =
  /^The key "k1" of ENCRYPTION_KEYS is not the key with which this database was encrypted.*Nothing was written/;

describeWorlds('the keys of a database', await testServers(), (current) => {
  let world: PrivateWorld;
  beforeAll(() => {
    world = current();
  });

  const checks = async () => {
    const sql = `SELECT name, value FROM jackdaw_property WHERE name LIKE 'encryption_key:%' ORDER BY name`;
    return world.database.query<{ name: string; value: string }>(sql);
  };
  const idsOf = (rows: readonly { name: string }[]) => rows.map(({ name }) => name);

  it('have a check value from the first start on, and a start with another key of the same id is refused', async () => {
    await world.start(K1);
    const stored = await checks();
    expect(idsOf(stored)).toEqual(['encryption_key:k1']);
    expect(stored[0]!.value).toMatch(/^[0-9a-f]{32}$/);
    expect(K1).not.toContain(stored[0]!.value);
    // Without any text there is nothing to decrypt: only the check value shows the difference.
    await world.halt();
    const before = world.files();
    for (const keys of [OTHER_K1, `${K2},${OTHER_K1}`]) expect(await world.refusal(keys)).toMatch(REFUSED);
    // The files of a SQLite database; a folder without files on a server.
    expect(world.files()).toBe(before);
    await world.start(K1);
    expect(await checks()).toEqual(stored);
  });

  it('are verified against an encrypted text before their first check value is stored', async () => {
    world.llm.always({ text: 'a nightingale' });
    await world.jackdaw.chat({ query: 'a kingfisher?', sessionId: 's' });
    // As an earlier version left it.
    await world.database.commit([
      { sql: `DELETE FROM jackdaw_property WHERE name LIKE 'encryption_key:%'`, params: [] },
    ]);
    for (const keys of [OTHER_K1, `${K2},${OTHER_K1}`]) expect(await world.refusal(keys)).toMatch(REFUSED);
    await world.start(K1);
    expect(idsOf(await checks())).toEqual(['encryption_key:k1']);
    expect(await world.jackdaw.messages('s')).toMatchObject([
      { content: 'a kingfisher?' },
      { content: 'a nightingale' },
    ]);
  });

  it('can be changed under another id', async () => {
    await world.start(`${K2},${K1}`);
    expect(idsOf(await checks())).toEqual(['encryption_key:k1', 'encryption_key:k2']);
    expect(await world.refusal(`${newKey('k2')},${K1}`)).toMatch('The key "k2" of ENCRYPTION_KEYS');
    await world.start(`${K2},${K1}`);
    expect(await world.jackdaw.messages('s')).toHaveLength(2);
  });
});
