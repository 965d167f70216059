import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { createHash } from 'node:crypto';
import { Database } from '../src/persistence/index.js';
import { keyHolder, makeKey } from './support/api-keys.js';
import { FakeLlm } from './support/fake-llm.js';
import { newFolder, startJackdaw, type Jackdaw } from './support/jackdaw.js';
import { callOf, WaitingRun } from './support/waiting-run.js';
import { WaitingTools } from './support/waiting.tool.js';
import { rmSync } from 'node:fs';

const HOUR_MS = 3_600_000;
const ADMIN = keyHolder('boss', 'a', 'admin');
const USER = keyHolder('worker', 'a', 'user');

interface Listed {
  readonly id: string;
  readonly name: string;
  readonly revoked_at: number | null;
  readonly last_used_at: number | null;
}

/** Advances `Date.now` by this many ms; timers are unaffected. */
function pass(ms: number): void {
  const now = Date.now;
  vi.spyOn(Date, 'now').mockImplementation(() => now() + ms);
}

let llm: FakeLlm;
let jackdaw: Jackdaw;
beforeAll(async () => {
  llm = await FakeLlm.start();
  const env = { API_KEYS: `${ADMIN.entry},${USER.entry}`, LOG_LEVEL: 'trace' };
  jackdaw = await startJackdaw({ llm, tools: [new WaitingTools()], env });
});
afterEach(() => {
  vi.restoreAllMocks();
  llm.reset();
});
afterAll(async () => {
  await jackdaw.stop();
  await llm.close();
});

const revoke = (id: string, headers = ADMIN.headers) =>
  jackdaw.send(`/api/keys/${id}`, { method: 'DELETE', headers: { ...headers } });
const list = async (query = '', headers = ADMIN.headers) => {
  const { body } = await jackdaw.get(`/api/keys${query}`, headers);
  return body as unknown as { keys: Listed[]; next: string | null };
};
const statusOf = async (headers: Readonly<Record<string, string>>) => (await jackdaw.get('/api/runs', headers)).status;

describe('a key that an admin creates', () => {
  it('is returned once and stored as its hash', async () => {
    const wanted = { name: 'nightly build', role: 'user', scopes: ['chat'], expiresAt: '2100-01-31' };
    const { status, headers, body } = await jackdaw.post('/api/keys', wanted, ADMIN.headers);
    expect([status, headers.get('cache-control')]).toEqual([201, 'no-store']);
    const { key, id, created_at, ...rest } = body as unknown as Record<string, string>;
    expect(key).toMatch(/^jd_[\w-]{43}$/);
    expect(created_at).toEqual(expect.any(Number));
    expect(rest).toEqual({
      name: 'nightly build',
      role: 'user',
      scopes: ['chat'],
      visibility: 'own',
      created_by: 'boss',
      expires_at: Date.UTC(2100, 0, 31),
      revoked_at: null,
      last_used_at: null,
    });
    const rows = JSON.stringify(await jackdaw.app.get(Database).query('SELECT * FROM api_key WHERE id = ?', [id!]));
    const sha256 = createHash('sha256').update(key!).digest('hex');
    expect(rows).toContain(sha256);
    const listed = await jackdaw.get('/api/keys', ADMIN.headers);
    expect((listed.body['keys'] as unknown as Listed[])[0]).toEqual({ id, created_at, ...rest });
    for (const text of [rows, listed.text, JSON.stringify(jackdaw.log)]) expect(text).not.toContain(key);
    expect(listed.text).not.toContain(sha256);
  });

  it('is its own principal in the tenant of its creator', async () => {
    llm.always({ text: 'hello' });
    const made = await makeKey(jackdaw, ADMIN.headers);
    await jackdaw.chat({ query: 'x', sessionId: 'of-key' }, made.headers);
    expect((await jackdaw.get('/api/sessions/of-key', ADMIN.headers)).body).toMatchObject({ owner: made.id });
  });

  it('has the time of its last use, to the minute', async () => {
    const { id, headers } = await makeKey(jackdaw, ADMIN.headers);
    const used = async () => (await list()).keys.find((key) => key.id === id)?.last_used_at ?? null;
    expect(await used()).toBeNull();
    await statusOf(headers);
    // The server writes the last use asynchronously.
    let first = await used();
    while (first === null) first = await used();
    await statusOf(headers);
    expect(await used()).toBe(first);
    pass(HOUR_MS);
    await statusOf(headers);
    let second = await used();
    while (second === first) second = await used();
    expect(second).toBeGreaterThanOrEqual(first + HOUR_MS);
  });

  it('is in a list that starts with the newest, page by page', async () => {
    for (const name of ['p1', 'p2', 'p3']) await makeKey(jackdaw, ADMIN.headers, { name });
    const first = await list('?limit=2');
    expect(first.keys.map(({ name }) => name)).toEqual(['p3', 'p2']);
    const second = await list(`?limit=2&cursor=${first.next}`);
    expect(second.keys[0]?.name).toBe('p1');
    const all = await list('?limit=200');
    expect(all.next).toBeNull();
    expect(all.keys.slice(0, 4)).toEqual([...first.keys, ...second.keys]);
    expect((await jackdaw.get('/api/keys?cursor=,', ADMIN.headers)).body['code']).toBe('VALIDATION_FAILED');
  });
});

describe('the creation of a key', () => {
  it.each([
    [{ role: 'user' }, 'name'],
    [{ name: '  ', role: 'user' }, 'name'],
    [{ name: 'a\u0000b', role: 'user' }, 'name'],
    [{ name: 'x' }, 'role'],
    [{ name: 'x', role: 'root' }, 'role'],
    [{ name: 'x', role: 'user', scopes: [] }, 'scopes'],
    [{ name: 'x', role: 'user', scopes: ['everything'] }, 'scopes.0'],
    [{ name: 'x', role: 'user', scopes: ['chat', 'chat'] }, 'scopes'],
    [{ name: 'x', role: 'user', scopes: ['keys'] }, 'scopes.0'],
    [{ name: 'x', role: 'viewer', scopes: ['runs:read', 'chat'] }, 'scopes.1'],
    [{ name: 'x', role: 'user', expiresAt: '2020-01-01' }, 'expiresAt'],
    [{ name: 'x', role: 'user', expiresAt: 'tomorrow' }, 'expiresAt'],
    [{ name: 'x', role: 'user', expiresAt: null }, 'expiresAt'],
    [{ name: 'x', role: 'user', tenant: 'b' }, 'tenant'],
  ])('is refused for the invalid properties %j', async (wanted, field) => {
    const { status, body } = await jackdaw.post('/api/keys', wanted, ADMIN.headers);
    expect([status, body['code']]).toEqual([400, 'VALIDATION_FAILED']);
    expect(body['errors']).toContainEqual(expect.objectContaining({ field }));
  });

  it('is refused to a caller that is not an admin', async () => {
    const { status, body } = await jackdaw.post('/api/keys', { name: 'x', role: 'viewer' }, USER.headers);
    expect([status, body['code'], body['scope']]).toEqual([403, 'FORBIDDEN', 'keys']);
    expect(body['detail']).toContain('"keys"');
  });

  it('is refused if the key has scopes that its creator lacks', async () => {
    const maker = await makeKey(jackdaw, ADMIN.headers, { role: 'admin', scopes: ['keys', 'runs:read'] });
    const { status, body } = await jackdaw.post('/api/keys', { name: 'x', role: 'admin' }, maker.headers);
    expect([status, body['code'], body['scope']]).toEqual([403, 'FORBIDDEN', 'chat']);
    await makeKey(jackdaw, maker.headers, { role: 'viewer', scopes: ['runs:read'] });
  });
});

describe('a valid key', () => {
  it('is accepted until it expires', async () => {
    const expiresAt = String(Date.now() + HOUR_MS);
    const { headers } = await makeKey(jackdaw, ADMIN.headers, { expiresAt });
    expect(await statusOf(headers)).toBe(200);
    pass(HOUR_MS);
    const { status, body } = await jackdaw.get('/api/runs', headers);
    expect([status, body['code']]).toEqual([401, 'UNAUTHENTICATED']);
    expect(body['detail']).toContain(`expired at ${new Date(Number(expiresAt)).toISOString()}`);
  });

  it('is refused at once after its revocation', async () => {
    const { id, headers } = await makeKey(jackdaw, ADMIN.headers);
    expect(await statusOf(headers)).toBe(200);
    expect((await revoke(id)).status).toBe(204);
    const { status, body } = await jackdaw.get('/api/runs', headers);
    expect([status, body['detail']]).toEqual([401, expect.stringContaining('revoked')]);
    const revokedAt = (await list()).keys.find((key) => key.id === id)?.revoked_at;
    expect(revokedAt).toEqual(expect.any(Number));
    pass(HOUR_MS);
    expect((await revoke(id)).status).toBe(204);
    expect((await list()).keys.find((key) => key.id === id)?.revoked_at).toBe(revokedAt);
  });

  it('can revoke itself', async () => {
    const { id, headers } = await makeKey(jackdaw, ADMIN.headers, { role: 'admin' });
    expect((await revoke(id, headers)).status).toBe(204);
    expect(await statusOf(headers)).toBe(401);
  });
});

describe('a waiting run', () => {
  async function waiting(headers: Readonly<Record<string, string>>): Promise<WaitingRun> {
    llm.reply({ text: 'I try.', calls: [callOf('pay', { to: 'shop', amount: 5 })] }, { text: 'the end' });
    const { status, body } = await jackdaw.chat({ query: 'go' }, headers);
    expect([status, body['status']]).toEqual([202, 'waiting']);
    return new WaitingRun(jackdaw, String(body['run_id']), ADMIN.headers);
  }

  it('resumes if its key is still valid', async () => {
    const { headers } = await makeKey(jackdaw, ADMIN.headers);
    const run = await waiting(headers);
    expect((await run.after('approve')).at(-1)?.data).toMatchObject({ type: 'run.completed', result: 'the end' });
  });

  it('fails if its key was revoked', async () => {
    const { id, headers } = await makeKey(jackdaw, ADMIN.headers);
    const run = await waiting(headers);
    await revoke(id);
    expect((await run.after('approve')).at(-1)?.data).toMatchObject({
      type: 'run.failed',
      error: { code: 'FORBIDDEN' },
    });
    expect(llm.requests).toHaveLength(1);
  });

  it('fails if its key has expired', async () => {
    const { headers } = await makeKey(jackdaw, ADMIN.headers, { expiresAt: String(Date.now() + HOUR_MS) });
    const run = await waiting(headers);
    pass(HOUR_MS);
    expect((await run.after('approve')).at(-1)?.data).toMatchObject({
      type: 'run.failed',
      error: { code: 'FORBIDDEN' },
    });
  });
});

describe('a server without API_KEYS', () => {
  let open: Jackdaw;
  let dataDir: string;
  beforeAll(async () => {
    dataDir = newFolder();
    open = await startJackdaw({ dataDir });
  });
  afterAll(async () => {
    await open.stop();
    rmSync(dataDir, { recursive: true });
  });

  it("requires a key permanently after the first key, which must be an admin's", async () => {
    const refused = await open.post('/api/keys', { name: 'first', role: 'user' });
    expect([refused.status, refused.body['code']]).toEqual([400, 'REQUEST_REFUSED']);
    expect((await open.get('/api/runs')).status).toBe(200);

    const first = await makeKey(open, {}, { role: 'admin', scopes: ['keys', 'runs:read'] });
    expect((await open.get('/api/runs')).status).toBe(401);
    expect((await open.get('/api/runs', first.headers)).status).toBe(200);
    expect((await open.get('/api/health/live')).status).toBe(200);

    await open.send(`/api/keys/${first.id}`, { method: 'DELETE', headers: { ...first.headers } });
    await open.stop();
    open = await startJackdaw({ dataDir });
    expect((await open.get('/api/runs')).status).toBe(401);
    expect((await open.get('/api/runs', first.headers)).status).toBe(401);
  });
});
