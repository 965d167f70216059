import { beforeAll, expect, it } from 'vitest';
import { keyHolder } from './support/api-keys.js';
import { describeWorlds, newKey } from './support/private-world.js';
import { testServers } from './support/test-databases.js';

const ANN = keyHolder('ann', 'a', 'user');
const AMY = keyHolder('amy', 'a', 'user');
const VERA = keyHolder('vera', 'a', 'viewer');
const ADA = keyHolder('ada', 'a', 'admin');
const EVE = keyHolder('eve', 'e', 'admin');
const ENV = { API_KEYS: [ANN, AMY, VERA, ADA, EVE].map(({ entry }) => entry).join(',') };

interface Listed {
  readonly run_id: string;
  readonly may_decide: boolean;
  readonly waiting_since: number;
  readonly created_at: number;
  readonly request: { readonly kind: string; readonly call_id: string; readonly tool: string };
}

describeWorlds('the list of waiting requests', await testServers(), (current) => {
  const ids: string[] = [];
  const list = async (query = '', who = ANN) => {
    const { status, body } = await current().jackdaw.get(`/api/waiting${query}`, who.headers);
    expect(status).toBe(200);
    return body as unknown as { requests: Listed[]; next: string | null };
  };
  const runsOf = async (query = '', who = ANN) => (await list(query, who)).requests.map(({ run_id }) => run_id);

  beforeAll(async () => {
    const { llm } = current();
    const jackdaw = await current().start(newKey('k1'), ENV);
    for (const who of [ANN, ANN, AMY]) {
      llm.reply({ calls: [{ name: 'pay', arguments: { to: 'x', amount: 1 } }] });
      const { body } = await jackdaw.chat({ query: 'go' }, who.headers);
      ids.push(String(body['run_id']));
    }
    llm.reply({ text: 'done' });
    await jackdaw.chat({ query: 'go' }, ANN.headers);
  });

  it('has the requests of the runs that the caller may see, the oldest first', async () => {
    expect(await runsOf()).toEqual(ids.slice(0, 2));
    expect(await runsOf('', AMY)).toEqual(ids.slice(2));
    expect(await runsOf('', ADA)).toEqual(ids);
    expect(await runsOf('', EVE)).toEqual([]);
    const { requests } = await list();
    expect(requests[0]).toMatchObject({ request: { kind: 'approval', tool: 'pay' } });
    expect(requests[0]!.waiting_since).toBeGreaterThanOrEqual(requests[0]!.created_at);
  });

  it('says whether the caller may decide', async () => {
    expect((await list('', ADA)).requests.map(({ may_decide }) => may_decide)).toEqual([true, true, true]);
    expect((await list('', VERA)).requests.map(({ may_decide }) => may_decide)).toEqual([false, false, false]);
  });

  it('has pages, and filters by kind and agent', async () => {
    const first = await list('?limit=2', ADA);
    expect(first.requests).toHaveLength(2);
    const second = await list(`?limit=2&cursor=${first.next}`, ADA);
    expect([...first.requests, ...second.requests].map(({ run_id }) => run_id)).toEqual(ids);
    expect(second.next).toBeNull();
    expect(await runsOf('?kind=approval&agent=default', ADA)).toEqual(ids);
    expect(await runsOf('?kind=input', ADA)).toEqual([]);
    expect(await runsOf('?agent=other', ADA)).toEqual([]);
  });

  it('no longer has a decided request', async () => {
    const { llm, jackdaw } = current();
    const [open] = (await list()).requests;
    llm.reply({ text: 'paid' });
    await jackdaw.post(`/api/runs/${open!.run_id}/approve`, { callId: open!.request.call_id }, ADA.headers);
    await jackdaw.events(open!.run_id, ANN.headers);
    expect(await runsOf()).toEqual(ids.slice(1, 2));
  });

  it('shows the other runs beside one whose requests are damaged', async () => {
    const [open] = (await list()).requests;
    const sql = `UPDATE run_event SET data = 'damaged' WHERE run_id = ? AND type = 'run.waiting'`;
    await current().database.commit([{ sql, params: [open!.run_id] }]);
    expect(await runsOf('', ADA)).toEqual(ids.slice(2));
  });

  it.each(['kind=child', 'limit=0', 'cursor=x'])('refuses %s', async (query) => {
    expect((await current().jackdaw.get(`/api/waiting?${query}`, ANN.headers)).status).toBe(400);
  });
});
