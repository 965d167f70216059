import { beforeAll, expect, it } from 'vitest';
import { keyHolder } from './support/api-keys.js';
import { describeWorlds, newKey } from './support/private-world.js';
import { testServers } from './support/test-databases.js';

const ANN = keyHolder('ann', 'a', 'user');
const AMY = keyHolder('amy', 'a', 'user');
const VERA = keyHolder('vera', 'a', 'viewer');
const EVE = keyHolder('eve', 'e', 'admin');
const ENV = { API_KEYS: [ANN, AMY, VERA, EVE].map(({ entry }) => entry).join(',') };
const NONE = { queued: 0, running: 0, waiting: 0, completed: 0, failed: 0, cancelled: 0 };
const DAY_MS = 86_400_000;

describeWorlds('the numbers of runs', await testServers(), (current) => {
  const counts = async (query: string, who = ANN) => {
    const { status, body } = await current().jackdaw.get(`/api/runs/counts${query}`, who.headers);
    expect(status).toBe(200);
    return body as unknown as { by_status: object; failed: object[]; from: number; is_complete: boolean };
  };
  beforeAll(async () => {
    const { llm } = current();
    const jackdaw = await current().start(newKey('k1'), ENV);
    const chat = (who: typeof ANN) => jackdaw.chat({ query: 'go' }, who.headers);
    llm.reply({ text: 'one' }, { status: 401 }, { status: 401 });
    for (let n = 0; n < 3; n++) await chat(ANN);
    llm.reply({ calls: [{ name: 'pay', arguments: { to: 'x', amount: 1 } }] });
    await chat(ANN);
    await jackdaw.post('/api/tools/look/call', { arguments: { text: 'x' } }, ANN.headers);
    llm.reply({ text: 'two' });
    await chat(AMY);
  });

  it('are those of the runs that the caller may see', async () => {
    const failed = [{ error_code: 'MODEL_AUTHENTICATION', count: 2 }];
    const own = { ...NONE, completed: 2, failed: 2, waiting: 1 };
    expect(await counts('')).toMatchObject({ by_status: own, failed, is_complete: true });
    expect(await counts('', VERA)).toMatchObject({ by_status: { ...own, completed: 3 }, failed });
    expect(await counts('', AMY)).toMatchObject({ by_status: { ...NONE, completed: 1 }, failed: [] });
    expect(await counts('', EVE)).toMatchObject({ by_status: NONE, failed: [] });
  });

  it('are filtered by kind, agent and time; open runs are counted at any age', async () => {
    expect(await counts('?kind=tool')).toMatchObject({ by_status: { ...NONE, completed: 1 } });
    expect(await counts('?agent=none')).toMatchObject({ by_status: NONE });
    expect(await counts('?agent=default')).toMatchObject({ by_status: { completed: 1, failed: 2, waiting: 1 } });
    expect(await counts('?to=2026-01-31&from=2026-01-30')).toMatchObject({ by_status: { ...NONE, waiting: 1 } });
    const all = { ...NONE, completed: 2, failed: 2, waiting: 1 };
    expect(await counts('?from=2026-01-31')).toMatchObject({ by_status: all });
    const sql = 'UPDATE run SET created_at = created_at - ?';
    await current().database.commit([{ sql, params: [DAY_MS] }]);
    expect(await counts('')).toMatchObject({ by_status: { ...NONE, waiting: 1 }, failed: [] });
    expect(await counts('?from=2026-01-31')).toMatchObject({ by_status: all });
  });

  it('name no code for runs that failed before codes were stored', async () => {
    await current().database.commit([{ sql: 'UPDATE run SET error_code = NULL', params: [] }]);
    expect(await counts('?from=2026-01-31')).toMatchObject({ failed: [{ error_code: null, count: 2 }] });
  });

  it.each(['kind=A', 'from=yesterday', 'status=failed'])('refuse %s', async (query) => {
    const { status, body } = await current().jackdaw.get(`/api/runs/counts?${query}`, ANN.headers);
    expect([status, body['code']]).toEqual([400, 'VALIDATION_FAILED']);
  });
});
