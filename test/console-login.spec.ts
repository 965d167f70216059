import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { rmSync } from 'node:fs';
import { keyHolder, makeKey } from './support/api-keys.js';
import { newFolder, startJackdaw, type Jackdaw } from './support/jackdaw.js';

const ADMIN = keyHolder('ann', 'a', 'admin');

let jackdaw: Jackdaw;
beforeAll(async () => {
  jackdaw = await startJackdaw({ env: { API_KEYS: ADMIN.entry } });
});
afterAll(() => jackdaw.stop());

async function logIn(headers: Readonly<Record<string, string>>, of = jackdaw): Promise<Record<string, string>> {
  const answer = await of.post('/api/login', undefined, headers);
  expect(answer.status).toBe(204);
  return { cookie: answer.headers.get('set-cookie')!.split(';', 1)[0]! };
}

describe('POST /api/login', () => {
  it('sets a cookie that scripts and other sites cannot use', async () => {
    const { headers } = await jackdaw.post('/api/login', undefined, ADMIN.headers);
    expect(headers.get('set-cookie')).toMatch(
      /^jackdaw_session=[\w-]+; Max-Age=43200; Path=\/; HttpOnly; SameSite=Strict$/,
    );
    expect(headers.get('set-cookie')).not.toContain(ADMIN.headers['authorization']!.slice('Bearer '.length));
  });

  it('authenticates a browser by its cookie with the roles of the key', async () => {
    const cookie = await logIn(ADMIN.headers);
    expect((await jackdaw.get('/api/me', cookie)).body).toMatchObject({ id: 'ann', tenant: 'a', roles: ['admin'] });
    const viewer = await makeKey(jackdaw, ADMIN.headers, { role: 'viewer' });
    const { body } = await jackdaw.get('/api/me', await logIn(viewer.headers));
    expect(body).toMatchObject({
      roles: ['viewer'],
      scopes: ['runs:read', 'sessions:read', 'tools:read', 'usage:read'],
    });
  });

  it('refuses an unknown key, and a changed or removed cookie', async () => {
    expect((await jackdaw.post('/api/login', undefined, { authorization: 'Bearer jd_unknown' })).status).toBe(401);
    const { cookie } = await logIn(ADMIN.headers);
    for (const wrong of [`${cookie}A`, cookie!.slice(0, -4), 'jackdaw_session=', 'jackdaw_session=AAAA']) {
      expect((await jackdaw.get('/api/me', { cookie: wrong })).status).toBe(401);
    }
    const removed = await jackdaw.send('/api/login', { method: 'DELETE', headers: { cookie: cookie! } });
    expect(removed.headers.get('set-cookie')).toContain('jackdaw_session=; Max-Age=0');
  });

  it('ends with its key', async () => {
    const key = await makeKey(jackdaw, ADMIN.headers, { role: 'user' });
    const cookie = await logIn(key.headers);
    expect((await jackdaw.get('/api/me', cookie)).status).toBe(200);
    await jackdaw.send(`/api/keys/${key.id}`, { method: 'DELETE', headers: ADMIN.headers });
    expect((await jackdaw.get('/api/me', cookie)).status).toBe(401);
  });

  it('ends after 12 hours', async () => {
    const cookie = await logIn(ADMIN.headers);
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 12 * 3_600_000 - 60_000 });
    try {
      expect((await jackdaw.get('/api/me', cookie)).status).toBe(200);
      vi.setSystemTime(Date.now() + 120_000);
      expect((await jackdaw.get('/api/me', cookie)).status).toBe(401);
    } finally {
      vi.useRealTimers();
    }
  });

  it('is valid at each server with the same database', async () => {
    const dataDir = newFolder();
    const env = { API_KEYS: ADMIN.entry };
    const first = await startJackdaw({ env, dataDir });
    const cookie = await logIn(ADMIN.headers, first);
    await first.stop();
    const second = await startJackdaw({ env, dataDir });
    expect((await second.get('/api/me', cookie)).status).toBe(200);
    expect((await jackdaw.get('/api/me', cookie)).status).toBe(401);
    await second.stop();
    rmSync(dataDir, { recursive: true });
  });

  it('refuses changes by pages of other sites, and lets another credential take precedence', async () => {
    const cookie = await logIn(ADMIN.headers);
    const create = (headers: Readonly<Record<string, string | undefined>>) =>
      jackdaw.post('/api/sessions', {}, { ...cookie, ...(headers as Readonly<Record<string, string>>) });
    expect((await create({ 'sec-fetch-site': 'same-origin' })).status).toBe(201);
    expect((await create({ origin: jackdaw.url })).status).toBe(201);
    for (const headers of [
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
      { origin: 'https://evil.example' },
    ]) {
      expect([(await create(headers)).status, headers]).toEqual([403, headers]);
    }
    expect((await create({ 'sec-fetch-site': 'cross-site', ...ADMIN.headers })).status).toBe(201);
  });
});

describe('the console', () => {
  it('is served without a key, below any path, and with a strict policy', async () => {
    const redirect = await fetch(`${jackdaw.url}/console`, { redirect: 'manual' });
    expect([redirect.status, redirect.headers.get('location')]).toEqual([308, 'console/']);
    const page = await fetch(`${jackdaw.url}/console/`);
    expect([page.status, page.headers.get('cache-control')]).toEqual([200, 'no-cache']);
    const policy = page.headers.get('content-security-policy');
    expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'");
    expect(policy).toContain("require-trusted-types-for 'script'");
    const html = await page.text();
    expect(html).not.toMatch(/<script(?![^>]*src=)|\sstyle=|\son\w+=|https?:/);
    const files = [...html.matchAll(/(?:src|href)="\.\/([\w.-]+)"/g)].map(([, name]) => name);
    expect(files.length).toBeGreaterThanOrEqual(2);
    for (const name of files) {
      const file = await fetch(`${jackdaw.url}/console/${name}`);
      expect([file.status, file.headers.get('cache-control')]).toEqual([200, 'public, max-age=31536000, immutable']);
    }
    expect((await fetch(`${jackdaw.url}/console/missing.js`)).status).toBe(404);
  });

  it('is off with CONSOLE=off, together with its login', async () => {
    const other = await startJackdaw({ env: { API_KEYS: ADMIN.entry, CONSOLE: 'off' } });
    expect((await fetch(`${other.url}/console/`)).status).toBe(404);
    // The route is in no document without the console.
    const login = await fetch(`${other.url}/api/login`, { method: 'POST', headers: ADMIN.headers });
    expect(login.status).toBe(404);
    const cookie = await logIn(ADMIN.headers);
    expect((await other.get('/api/me', cookie)).status).toBe(401);
    await other.stop();
  });
});
