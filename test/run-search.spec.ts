import { beforeAll, expect, it } from 'vitest';
import { keyHolder } from './support/api-keys.js';
import { describeWorlds, newKey } from './support/private-world.js';
import { testServers } from './support/test-databases.js';

const ANN = keyHolder('ann', 'a', 'user');
const AMY = keyHolder('amy', 'a', 'user');
const ROOT = keyHolder('root', 'a', 'viewer');
const EVE = keyHolder('eve', 'e', 'admin');
const ENV = { API_KEYS: [ANN, AMY, ROOT, EVE].map(({ entry }) => entry).join(',') };
/** Its 200th unit is the first half of an emoji. */
const LONG = `Where does the Heron sleep? ${'x'.repeat(171)}\u{1F426}${'y'.repeat(50)}`;

interface Listed {
  readonly run_id: string;
  readonly [field: string]: unknown;
}
interface Page {
  readonly runs: Listed[];
  readonly next: string | null;
  readonly searched_to?: number | null;
  readonly is_search_complete?: boolean;
}

describeWorlds('the list of runs', await testServers(), (current) => {
  const runs = {} as Record<'long' | 'failed' | 'waiting' | 'call' | 'amys' | 'eves', string>;
  const page = async (query: string, who = ANN) => {
    const { status, body } = await current().jackdaw.get(`/api/runs${query}`, who.headers);
    expect(status).toBe(200);
    return body as unknown as Page;
  };
  const ids = async (query: string, who = ANN) => (await page(query, who)).runs.map(({ run_id }) => run_id);
  const one = async (id: string, who = ANN) => (await page('', who)).runs.find(({ run_id }) => run_id === id);

  beforeAll(async () => {
    const { llm } = current();
    const jackdaw = await current().start(newKey('k1'), ENV);
    const chat = async (query: string, who = ANN) =>
      String((await jackdaw.chat({ query }, who.headers)).body['run_id']);
    llm.reply({ text: 'one' }, { status: 401 });
    runs.long = await chat(LONG);
    runs.failed = await chat('Why does the heron fail?\0');
    llm.reply({
      calls: [
        { name: 'pay', arguments: { to: 'x', amount: 1 } },
        { name: 'pay', arguments: { to: 'y', amount: 2 } },
      ],
    });
    runs.waiting = await chat('Pay the heron');
    const called = await jackdaw.post('/api/tools/look/call', { arguments: { text: 'heron' } }, ANN.headers);
    runs.call = String(called.body['run_id']);
    llm.reply({ text: 'two' }, { text: 'three' });
    runs.amys = await chat('A heron of Amy', AMY);
    runs.eves = await chat('A heron of Eve', EVE);
  });

  it('shows the kind, the question, the error and the open decisions', async () => {
    expect(await one(runs.long)).toMatchObject({
      kind: 'agent',
      error_code: null,
      query_preview: LONG.slice(0, 199),
      pending: 0,
    });
    expect(await one(runs.failed)).toMatchObject({
      status: 'failed',
      error_code: 'MODEL_AUTHENTICATION',
      error_message: expect.stringContaining('401'),
      query_preview: 'Why does the heron fail?\ufffd',
    });
    expect(await one(runs.waiting)).toMatchObject({ status: 'waiting', pending: 2 });
    expect(await one(runs.call)).toMatchObject({ kind: 'tool', query_preview: '{"text":"heron"}' });
  });

  it('filters by kind, error code and text, in any letter case', async () => {
    expect(await ids('?kind=tool')).toEqual([runs.call]);
    expect(await ids('?kind=workflow')).toEqual([]);
    expect(await ids('?errorCode=MODEL_AUTHENTICATION')).toEqual([runs.failed]);
    expect(await ids('?errorCode=MODEL_AUTHENTICATION&status=completed')).toEqual([]);
    expect(await ids('?errorCode=RUN_TIMEOUT')).toEqual([]);
    expect(await ids('?text=HERON')).toEqual([runs.call, runs.waiting, runs.failed, runs.long]);
    expect(await ids('?text=heron&kind=agent&status=completed,failed')).toEqual([runs.failed, runs.long]);
    const found = await page('?text=sleep%3F');
    expect(found.runs.map(({ run_id }) => run_id)).toEqual([runs.long]);
    expect(found).toMatchObject({ next: null, is_search_complete: true });
    expect(found.searched_to).toBe(found.runs[0]!['created_at']);
    expect(await page('?text=swan')).toMatchObject({ runs: [], next: null, is_search_complete: true });
    expect(await page('?text=heron&agent=none')).toMatchObject({ runs: [], searched_to: null });
    expect((await page('')).is_search_complete).toBeUndefined();
  });

  it('continues a search on the next page', async () => {
    const found: string[] = [];
    for (let query = '?text=heron&limit=1'; ;) {
      const { runs: some, next, is_search_complete } = await page(query);
      found.push(...some.map(({ run_id }) => run_id));
      expect(is_search_complete).toBe(next === null);
      if (next === null) break;
      query = `?text=heron&limit=1&cursor=${next}`;
    }
    expect(found).toEqual([runs.call, runs.waiting, runs.failed, runs.long]);
  });

  it('finds only runs that the caller may see', async () => {
    expect(await ids('?text=heron', AMY)).toEqual([runs.amys]);
    expect(await ids('?text=heron', EVE)).toEqual([runs.eves]);
    expect(await ids('?text=heron', ROOT)).toHaveLength(5);
    expect(await ids('?errorCode=MODEL_AUTHENTICATION', AMY)).toEqual([]);
    expect(await ids('?errorCode=MODEL_AUTHENTICATION', ROOT)).toEqual([runs.failed]);
  });

  it.each(['kind=', 'kind=A', 'errorCode=x', 'text='])('refuses %s', async (query) => {
    const { status, body } = await current().jackdaw.get(`/api/runs?${query}`, ANN.headers);
    expect([status, body['code']]).toEqual([400, 'VALIDATION_FAILED']);
  });

  it('stores the question encrypted, and shows a run whose question is damaged', async () => {
    expect(await current().stored()).not.toContain('heron fail');
    const { database } = current();
    await database.commit([{ sql: 'UPDATE run SET preview = ? WHERE id = ?', params: ['jdv1.k1.x', runs.call] }]);
    expect(await one(runs.call)).toMatchObject({ query_preview: null, is_damaged: true });
    expect(await ids('?text=heron')).toEqual([runs.waiting, runs.failed, runs.long]);
  });

  it('shows the known fields of runs from before the upgrade', async () => {
    const sql = 'UPDATE run SET error_code = NULL, preview = NULL, pending = NULL';
    await current().database.commit([{ sql, params: [] }]);
    expect(await one(runs.failed)).toMatchObject({ error_code: 'MODEL_AUTHENTICATION', query_preview: null });
    expect(await one(runs.waiting)).toMatchObject({ pending: 2, query_preview: null });
    expect(await ids('?errorCode=MODEL_AUTHENTICATION')).toEqual([]);
  });
});
