import { Webhook as StandardWebhook } from 'standardwebhooks';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Database } from '../src/persistence/index.js';
import { keyHolder } from './support/api-keys.js';
import { FakeLlm } from './support/fake-llm.js';
import { startJackdaw, type Jackdaw } from './support/jackdaw.js';
import { WebhookReceiver } from './support/webhook-receiver.js';
import { WaitingTools } from './support/waiting.tool.js';

const ANN = keyHolder('ann', 'a', 'admin');
const BOB = keyHolder('bob', 'b', 'admin');
const CAT = keyHolder('cat', 'a', 'user');
const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

let llm: FakeLlm;
let receiver: WebhookReceiver;
let configured: WebhookReceiver;
let jackdaw: Jackdaw;

beforeAll(async () => {
  llm = await FakeLlm.start();
  receiver = await WebhookReceiver.start();
  configured = await WebhookReceiver.start();
  jackdaw = await startJackdaw({
    llm,
    tools: [new WaitingTools()],
    env: {
      API_KEYS: [ANN, BOB, CAT].map(({ entry }) => entry).join(','),
      OUTGOING_ALLOW: '127.0.0.1',
      WEBHOOK_URL: configured.url,
      WEBHOOK_SECRET: SECRET,
      WEBHOOK_EVENTS: 'run.completed',
      WEBHOOK_CONTENT: 'on',
    },
  });
});
beforeEach(() => llm.always({ text: 'a secret answer' }));
afterEach(async () => {
  llm.reset();
  receiver.received.splice(0);
  configured.received.splice(0);
  receiver.status = 200;
  receiver.headers = {};
  const { body } = await jackdaw.get('/api/webhooks', ANN.headers);
  for (const { id } of (body as unknown as { webhooks: { id: string }[] }).webhooks)
    if (id !== 'configured') await jackdaw.delete(`/api/webhooks/${id}`, ANN.headers);
});
afterAll(async () => {
  await jackdaw.stop();
  for (const one of [llm, receiver, configured]) await one.close();
});

interface Made {
  id: string;
  secret: string;
}

async function make(body: object = {}): Promise<Made> {
  const answer = await jackdaw.post('/api/webhooks', { url: receiver.url, ...body }, ANN.headers);
  expect(answer.status).toBe(201);
  return answer.body as unknown as Made;
}

async function chat(query = 'hello', headers = ANN.headers): Promise<string> {
  const { body } = await jackdaw.post('/api/agent/chat', { query }, headers);
  return (body as unknown as { run_id: string }).run_id;
}

async function deliveries(id: string): Promise<Record<string, unknown>[]> {
  const { body } = await jackdaw.get(`/api/webhooks/${id}/deliveries`, ANN.headers);
  return (body as unknown as { deliveries: Record<string, unknown>[] }).deliveries;
}

/** Waits until an attempt has ended: an attempt in progress is due again 20 s after its start. */
async function settled(id: string, attempts: number): Promise<void> {
  const isSettled = async () => {
    const [delivery] = await deliveries(id);
    const next = Number(delivery?.['next_attempt_at']) - Date.now();
    return delivery?.['attempts'] === attempts && (next < 15_000 || next > 21_000);
  };
  await expect.poll(isSettled).toBe(true);
}

/** Makes all pending deliveries due now. */
async function hurry(id: string): Promise<void> {
  const database = jackdaw.app.get(Database, { strict: false });
  await database.commit([
    { sql: 'UPDATE webhook_delivery SET due_at = 1 WHERE webhook_id = ? AND due_at IS NOT NULL', params: [id] },
  ]);
  await jackdaw.patch(`/api/webhooks/${id}`, {}, ANN.headers);
}

describe('webhooks', () => {
  it('sends a signed message at the end of a run, without its content', async () => {
    const { id, secret } = await make();
    const runId = await chat('a secret question');
    await expect.poll(() => receiver.received.length).toBe(1);
    const { headers, body, json } = receiver.received[0]!;
    // An independent implementation of the specification verifies it.
    expect(new StandardWebhook(secret).verify(body, headers as Record<string, string>)).toEqual(json);
    expect(json.type).toBe('run.completed');
    expect(json.data).toMatchObject({
      run_id: runId,
      tenant: 'a',
      agent: 'default',
      status: 'completed',
      finish_reason: 'stop',
    });
    expect(body).not.toContain('secret');
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'user-agent': expect.stringMatching(/^Jackdaw\//) as string,
    });
    await expect
      .poll(() => deliveries(id))
      .toMatchObject([
        { run_id: runId, status: 'delivered', attempts: 1, response_status: 200, next_attempt_at: null },
      ]);
  });

  it('names the requests of a waiting run, and their arguments on demand', async () => {
    await make({ events: ['run.waiting'] });
    await make({ events: ['run.waiting'], includeContent: true });
    llm.reply({ calls: [{ name: 'pay', arguments: { to: 'bob', amount: 5 } }] });
    const runId = await chat('pay');
    await expect.poll(() => receiver.received.length).toBe(2);
    const [thin, full] = receiver.received.map(({ body }) => body).toSorted((a, b) => a.length - b.length);
    expect(JSON.parse(thin!)).toMatchObject({
      type: 'run.waiting',
      data: { run_id: runId, reason: 'approval', requests: [{ kind: 'approval', tool: 'pay' }] },
    });
    expect(thin).not.toContain('bob');
    expect(full).toContain('bob');
  });

  it('publishes events to its tenant, its agent and its events only', async () => {
    await make({ agent: 'other' });
    await make({ events: ['run.failed'] });
    const runId = await chat('hello', BOB.headers);
    await expect.poll(() => configured.received.length).toBe(1);
    expect(configured.received[0]!.json.data).toMatchObject({
      run_id: runId,
      tenant: 'b',
      result: expect.any(String) as string,
    });
    expect(receiver.received).toEqual([]);
  });

  it('repeats a refused message with the same id, and records the outcome', async () => {
    const { id } = await make();
    receiver.status = 503;
    await chat();
    await settled(id, 1);
    expect(await deliveries(id)).toMatchObject([{ status: 'pending', response_status: 503 }]);
    const [{ next_attempt_at: next }] = (await deliveries(id)) as [{ next_attempt_at: number }];
    expect(next - Date.now()).toBeGreaterThan(3_000);
    expect(next - Date.now()).toBeLessThan(6_100);
    receiver.status = 204;
    await hurry(id);
    await expect.poll(() => deliveries(id)).toMatchObject([{ status: 'delivered', attempts: 2 }]);
    const [first, second] = receiver.received;
    expect(second!.headers['webhook-id']).toBe(first!.headers['webhook-id']);
    expect(second!.body).toBe(first!.body);
  });

  it('waits as long as the receiver asks', async () => {
    const { id } = await make();
    receiver.status = 429;
    receiver.headers = { 'retry-after': '120' };
    await chat();
    await settled(id, 1);
    const [{ next_attempt_at: next }] = (await deliveries(id)) as [{ next_attempt_at: number }];
    expect(next - Date.now()).toBeGreaterThan(110_000);
  });

  it('abandons a message after the last attempt, and sends again on request', async () => {
    const { id } = await make();
    receiver.status = 500;
    await chat();
    for (let attempts = 1; attempts < 12; attempts++) {
      await settled(id, attempts);
      await hurry(id);
    }
    await expect.poll(() => deliveries(id)).toMatchObject([{ attempts: 12, status: 'failed', next_attempt_at: null }]);
    receiver.status = 200;
    const [{ id: message }] = (await deliveries(id)) as [{ id: string }];
    const retried = await jackdaw.post(`/api/webhooks/${id}/deliveries/${message}/retry`, {}, ANN.headers);
    expect(retried.status).toBe(202);
    await expect.poll(() => deliveries(id)).toMatchObject([{ attempts: 1, status: 'delivered' }]);
    expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
  });

  it('disables a webhook whose receiver is gone', async () => {
    const { id } = await make();
    receiver.status = 410;
    await chat();
    await expect
      .poll(async () => (await jackdaw.get(`/api/webhooks/${id}`, ANN.headers)).body)
      .toMatchObject({ enabled: false, disabled_reason: 'gone' });
    expect(await deliveries(id)).toMatchObject([{ status: 'failed', response_status: 410 }]);
    await chat();
    expect(receiver.received).toHaveLength(1);
  });

  it('ends a delivery whose webhook was deleted while its event was stored', async () => {
    const database = jackdaw.app.get(Database, { strict: false });
    await database.commit([
      {
        sql: `INSERT INTO webhook_delivery (webhook_id, run_id, n, tenant, type, status, attempts, created_at, due_at)
          VALUES ('deleted', 'run', 1, 'a', 'run.failed', 'pending', 0, 1, 1)`,
        params: [],
      },
    ]);
    const { id } = await make();
    const sql = "SELECT status, due_at, error FROM webhook_delivery WHERE webhook_id = 'deleted'";
    const ended = { status: 'failed', due_at: null, error: 'The webhook is disabled or deleted.' };
    await expect.poll(async () => (await database.query(sql))[0]).toMatchObject(ended);
    await jackdaw.delete(`/api/webhooks/${id}`, ANN.headers);
  });

  it('does not follow a redirect', async () => {
    const { id } = await make();
    receiver.status = 302;
    receiver.headers = { location: `${receiver.url}?moved` };
    await chat();
    await settled(id, 1);
    expect(receiver.received.map(({ url }) => url)).toEqual(['/hook']);
  });

  it('signs with both secrets after a rotation', async () => {
    const { id, secret } = await make();
    const rotated = await jackdaw.post(`/api/webhooks/${id}/secret`, {}, ANN.headers);
    const { secret: next } = rotated.body as unknown as { secret: string };
    expect(next).not.toBe(secret);
    await chat();
    await expect.poll(() => receiver.received.length).toBe(1);
    const { headers, body } = receiver.received[0]!;
    for (const one of [secret, next]) new StandardWebhook(one).verify(body, headers as Record<string, string>);
    expect(headers['webhook-signature']).toMatch(/^v1,\S+ v1,\S+$/);
  });

  it('sends a test message', async () => {
    const { id, secret } = await make();
    const tested = await jackdaw.post(`/api/webhooks/${id}/test`, {}, ANN.headers);
    expect(tested.body).toEqual({ delivered: true, response_status: 200, error: null });
    const { headers, body } = receiver.received[0]!;
    expect(new StandardWebhook(secret).verify(body, headers as Record<string, string>)).toMatchObject({
      type: 'webhook.test',
    });
  });

  it('is for administrators of the tenant', async () => {
    const { id } = await make();
    expect((await jackdaw.get('/api/webhooks', CAT.headers)).status).toBe(403);
    expect((await jackdaw.get(`/api/webhooks/${id}`, BOB.headers)).status).toBe(404);
    expect((await jackdaw.delete(`/api/webhooks/configured`, ANN.headers)).body).toMatchObject({
      code: 'REQUEST_REFUSED',
    });
    const listed = await jackdaw.get('/api/webhooks', BOB.headers);
    expect(listed.body).toMatchObject({ webhooks: [{ id: 'configured', url: configured.url }] });
    expect(JSON.stringify(listed.body)).not.toContain('whsec_');
  });

  it.each([
    [{ url: 'ftp://x.example' }, 'url must be an http or https URL'],
    [{ url: 'https://u:p@x.example/' }, 'url'],
    [{ url: 'http://10.0.0.1/hook' }, '10.0.0.1 is not public (private), and calls to it are not allowed'],
    [{ url: 'http://localhost/hook' }, 'OUTGOING_ALLOW'],
    [{ url: 'https://x.example', events: ['run.started'] }, 'events'],
    [{ url: 'https://x.example', events: [] }, 'events'],
    [{ url: 'https://x.example', secret: 'mine' }, 'secret'],
  ])('refuses %j', async (body, field) => {
    const answer = await jackdaw.post('/api/webhooks', body, ANN.headers);
    expect(answer.status).toBe(400);
    expect(JSON.stringify(answer.body)).toContain(field);
  });
});
