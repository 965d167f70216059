import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Database } from '../src/persistence/index.js';
import { keyHolder, makeKey } from './support/api-keys.js';
import { FakeLlm } from './support/fake-llm.js';
import { startJackdaw, type Jackdaw } from './support/jackdaw.js';
import { WaitingTools } from './support/waiting.tool.js';
import { callOf } from './support/waiting-run.js';

const ANN = keyHolder('ann', 'a', 'admin');
const MINUTE = 60_000;

interface Schedule {
  id: string;
  next_at: number | null;
  last_run_id: string | null;
  last_outcome: string | null;
}

let llm: FakeLlm;
let jackdaw: Jackdaw;

beforeAll(async () => {
  llm = await FakeLlm.start();
  jackdaw = await startJackdaw({
    llm,
    tools: [new WaitingTools()],
    options: { workflows: [{ name: 'greet', nodes: [{ id: 'give', type: 'llm' }] }] },
    env: { API_KEYS: ANN.entry },
  });
});
beforeEach(() => {
  llm.reset();
  llm.always({ text: 'done' });
});
afterEach(async () => {
  const { body } = await jackdaw.get('/api/schedules', ANN.headers);
  for (const { id } of body['schedules'] as unknown as Schedule[])
    await jackdaw.delete(`/api/schedules/${id}`, ANN.headers);
});
afterAll(async () => {
  await jackdaw.stop();
  await llm.close();
});

async function make(body: object, headers = ANN.headers): Promise<Schedule> {
  const { status, body: made, text } = await jackdaw.post('/api/schedules', body, headers);
  expect([status, text]).toEqual([201, text]);
  return made as unknown as Schedule;
}

async function read(id: string): Promise<Schedule> {
  return (await jackdaw.get(`/api/schedules/${id}`, ANN.headers)).body as unknown as Schedule;
}

/** Moves the next time of a schedule, as if it had been set then. @param at epoch ms */
async function move(id: string, at: number): Promise<void> {
  const database = jackdaw.app.get(Database, { strict: false });
  await database.commit([{ sql: 'UPDATE run_schedule SET next_at = ? WHERE id = ?', params: [at, id] }]);
  // Wakes the server.
  await jackdaw.patch(`/api/schedules/${id}`, {}, ANN.headers);
}

/** Times of the runs of an agent or a workflow that have the question. */
async function runsOf(text: string): Promise<{ run_id: string; status: string }[]> {
  const { body } = await jackdaw.get(`/api/runs?text=${encodeURIComponent(text)}`, ANN.headers);
  return body['runs'] as unknown as { run_id: string; status: string }[];
}

const outcomeOf = (id: string) => async () => (await read(id)).last_outcome;

describe('schedules', () => {
  it('start one run at a time', async () => {
    const at = Date.now() + 1_200;
    const { id, next_at: next } = await make({ query: 'one time', at: String(at) });
    expect(next).toBe(at);
    expect(await runsOf('one time')).toEqual([]);
    await expect.poll(outcomeOf(id)).toBe('started');
    const schedule = await read(id);
    expect(schedule).toMatchObject({ next_at: null, last_at: at, enabled: true, owner: 'ann' });
    await expect.poll(() => runsOf('one time')).toMatchObject([{ run_id: schedule.last_run_id, status: 'completed' }]);
  });

  it('start runs by a cron expression in a time zone', async () => {
    const { id, next_at: next } = await make({ query: 'each day', cron: '30 9 * * *', timeZone: 'Asia/Kolkata' });
    expect(new Date(next!).toISOString()).toMatch(/T04:00:00\.000Z$/);
    await move(id, Date.now() - 10);
    await expect.poll(outcomeOf(id)).toBe('started');
    expect((await read(id)).next_at).toBe(next);
  });

  it('start workflows with their input', async () => {
    const { id } = await make({ workflow: 'greet', input: { prompt: 'a bird' }, cron: '@daily' });
    await move(id, Date.now());
    await expect.poll(outcomeOf(id)).toBe('started');
    const runId = (await read(id)).last_run_id!;
    await expect
      .poll(async () => (await jackdaw.get(`/api/runs/${runId}`, ANN.headers)).body['status'])
      .toBe('completed');
    expect(JSON.stringify(llm.requests.at(-1))).toContain('a bird');
  });

  it('continue one session with all runs', async () => {
    const { body: session } = await jackdaw.post('/api/sessions', {}, ANN.headers);
    const sessionId = String(session['id']);
    const { id } = await make({ query: 'again', cron: '@daily', sessionId });
    for (const turns of [1, 2]) {
      await move(id, Date.now());
      await expect.poll(async () => (await jackdaw.messages(sessionId, ANN.headers)).length).toBe(2 * turns);
    }
  });

  it.each([
    ['once', 1],
    ['skip', 0],
    ['all', 5],
  ])('treat missed times by the policy %s', async (missed, count) => {
    const query = `missed by ${missed}`;
    // The last of the five times was half an hour ago.
    const last = Math.floor(Date.now() / MINUTE) * MINUTE - 30 * MINUTE;
    const cron = `${new Date(last).getUTCMinutes()} * * * *`;
    const { id } = await make({ query, cron, missed, overlap: 'allow' });
    await move(id, last - 4 * 60 * MINUTE);
    await expect.poll(async () => (await read(id)).next_at! > Date.now()).toBe(true);
    await expect.poll(async () => (await runsOf(query)).length).toBe(count);
  });

  it.each([
    ['skip', 'skipped', 1],
    ['allow', 'started', 2],
    ['replace', 'started', 2],
  ])('treat an open run by the policy %s', async (overlap, outcome, count) => {
    const query = `pay by ${overlap}`;
    llm.always({ calls: [callOf('pay', { to: 'bob', amount: 5 })] });
    const { id } = await make({ query, cron: '@daily', overlap });
    await move(id, Date.now());
    await expect.poll(async () => (await runsOf(query)).map(({ status }) => status)).toEqual(['waiting']);
    const first = (await read(id)).last_run_id!;
    await move(id, Date.now());
    await expect
      .poll(async () => (await read(id)).last_outcome === outcome && (await runsOf(query)).length)
      .toBe(count);
    const statusOf = async () => (await jackdaw.get(`/api/runs/${first}`, ANN.headers)).body['status'];
    await expect.poll(statusOf).toBe(overlap === 'replace' ? 'cancelled' : 'waiting');
  });

  it('record a refused start, and continue', async () => {
    const { id } = await make({ query: 'later refused', cron: '@daily' });
    const database = jackdaw.app.get(Database, { strict: false });
    const { rows } = {
      rows: await database.query<{ work: string }>('SELECT work FROM run_schedule WHERE id = ?', [id]),
    };
    const work = rows[0]!.work.replace('"default"', '"removed"');
    await database.commit([{ sql: 'UPDATE run_schedule SET work = ? WHERE id = ?', params: [work, id] }]);
    await move(id, Date.now() - 2 * MINUTE);
    await expect
      .poll(() => read(id))
      .toMatchObject({ last_outcome: 'failed', last_error: 'AGENT_NOT_FOUND', enabled: true });
    expect((await read(id)).next_at).toBeGreaterThan(Date.now());
  });

  it('stop when the rights of their owner are revoked', async () => {
    const { id: keyId, headers } = await makeKey(jackdaw, ANN.headers, { role: 'user' });
    const { id } = await make({ query: 'revoked', cron: '@daily' }, headers);
    await jackdaw.delete(`/api/keys/${keyId}`, ANN.headers);
    await move(id, Date.now());
    await expect.poll(() => read(id)).toMatchObject({ enabled: false, disabled_reason: 'revoked', next_at: null });
    expect(await runsOf('revoked')).toEqual([]);
  });

  it('are changed, disabled, enabled, run at once and deleted', async () => {
    const { id } = await make({ query: 'changed', cron: '@daily' });
    const path = `/api/schedules/${id}`;
    const changed = await jackdaw.patch(path, { cron: '@hourly', query: 'changed again' }, ANN.headers);
    expect(changed.body).toMatchObject({ cron: '@hourly', query: 'changed again', enabled: true });
    const disabled = await jackdaw.patch(path, { enabled: false }, ANN.headers);
    expect(disabled.body).toMatchObject({ enabled: false, disabled_reason: 'person', next_at: null });
    const enabled = await jackdaw.patch(path, { enabled: true }, ANN.headers);
    expect(enabled.body).toMatchObject({ enabled: true, disabled_reason: null });
    expect((enabled.body as unknown as Schedule).next_at).toBeGreaterThan(Date.now());
    const started = await jackdaw.post(`${path}/run`, undefined, ANN.headers);
    expect(started.status).toBe(202);
    await expect.poll(async () => (await runsOf('changed again')).length).toBe(1);
    expect((await jackdaw.delete(path, ANN.headers)).status).toBe(204);
    expect((await jackdaw.get(path, ANN.headers)).body).toMatchObject({ code: 'SCHEDULE_NOT_FOUND' });
  });

  it('are changed by others of the tenant only in their times', async () => {
    const { headers } = await makeKey(jackdaw, ANN.headers, { role: 'user' });
    const { id } = await make({ query: 'of a user', cron: '@daily' }, headers);
    const path = `/api/schedules/${id}`;
    expect((await jackdaw.patch(path, { query: 'of an admin' }, ANN.headers)).body).toMatchObject({
      code: 'FORBIDDEN',
    });
    // The message is the user's, so the run is, too.
    const { run_id: runId } = (await jackdaw.post(`${path}/run`, undefined, ANN.headers)).body;
    expect((await jackdaw.get(`/api/runs/${String(runId)}`, headers)).status).toBe(200);
    expect((await jackdaw.patch(path, { enabled: false }, ANN.headers)).status).toBe(200);
  });

  it.each([
    [{ cron: '@daily' }, 'query'],
    [{ query: 'x' }, 'cron'],
    [{ query: 'x', cron: '@daily', at: '2099-01-01' }, 'cron'],
    [{ query: 'x', at: '2020-01-01' }, 'future'],
    [{ query: 'x', cron: '* * * * * *' }, 'five fields'],
    [{ query: 'x', cron: '0 0 30 2 *' }, 'five fields'],
    [{ query: 'x', cron: '@daily', timeZone: 'Mars/Base' }, 'Mars/Base'],
    [{ query: 'x', at: '2099-01-01', timeZone: 'UTC' }, 'timeZone'],
    [{ query: 'x', workflow: 'greet', cron: '@daily' }, 'query'],
    [{ agent: 'default', workflow: 'greet', cron: '@daily' }, 'workflow'],
    [{ query: 'x', input: {}, cron: '@daily' }, 'input'],
    [{ query: 'x', cron: '@daily', overlap: 'never' }, 'overlap'],
    [{ query: 'x', cron: '@daily', every: 5 }, 'every'],
    [{ workflow: 'nothing', query: 'x', cron: '@daily' }, '"rule":"isSchedule","got":"string"'],
  ])('are refused as %j', async (body, fault) => {
    const { status, text } = await jackdaw.post('/api/schedules', body, ANN.headers);
    expect(status).toBe(400);
    expect(text).toContain(fault);
  });

  it.each([
    [{ query: 'x', agent: 'missing', cron: '@daily' }, 'AGENT_NOT_FOUND'],
    [{ workflow: 'nothing', cron: '@daily' }, 'WORKFLOW_NOT_FOUND'],
    [{ query: 'x', cron: '@daily', sessionId: 'unknown' }, undefined],
  ])('of %j answer %s', async (body, code) => {
    expect((await jackdaw.post('/api/schedules', body, ANN.headers)).body['code']).toBe(code);
  });
});
