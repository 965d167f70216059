import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AccessLogStore } from '../src/security/access-log/access-log.store.js';
import { AccessLogService } from '../src/security/access-log/index.js';
import { keyHolder, makeKey } from './support/api-keys.js';
import { FakeLlm } from './support/fake-llm.js';
import { startJackdaw, type Jackdaw } from './support/jackdaw.js';
import { callOf } from './support/waiting-run.js';
import { WaitingTools } from './support/waiting.tool.js';

const ADA = keyHolder('ada', 'a', 'admin');
const VIC = keyHolder('vic', 'a', 'viewer');

describe('the audit of a server', () => {
  let llm: FakeLlm;
  let jackdaw: Jackdaw;
  beforeAll(async () => {
    llm = await FakeLlm.start();
    const env = { API_KEYS: `${ADA.entry},${VIC.entry}`, ACCESS_LOG: 'on', LOG_LEVEL: 'info' };
    jackdaw = await startJackdaw({ llm, env, tools: [new WaitingTools()] });
  });
  afterAll(async () => {
    await jackdaw.stop();
    await llm.close();
  });

  const lines = () => jackdaw.log.filter(({ context }) => context === 'AccessLogService');

  /** The last entry of a tenant, and the last line of the log. */
  async function last(tenant = 'a') {
    await jackdaw.app.get(AccessLogService, { strict: false }).writeAll();
    const [entry] = await jackdaw.app.get(AccessLogStore, { strict: false }).list([tenant], {}, 1);
    const { principal, action, targetKind, targetId } = entry!;
    expect(lines().at(-1)).toMatchObject({ tenant, principal, action, targetKind, targetId });
    return [principal, action, targetKind, targetId];
  }

  it('has requests without a valid credential, and requests beyond the rights of their caller', async () => {
    await jackdaw.chat({ query: 'x' }, { 'x-api-key': 'unknown' });
    expect(await last('')).toEqual([expect.stringContaining('127.0.0.1'), 'refuse', 'route', 'POST /api/agent/chat']);
    expect(JSON.stringify(lines())).not.toContain('unknown');
    await jackdaw.get('/api/keys?limit=1', VIC.headers);
    expect(await last()).toEqual(['vic', 'refuse', 'route', 'GET /api/keys']);
  });

  it('has the creation and the revocation of keys', async () => {
    const { id, key } = await makeKey(jackdaw, ADA.headers);
    expect(await last()).toEqual(['ada', 'create', 'key', id]);
    await jackdaw.send(`/api/keys/${id}`, { method: 'DELETE', headers: ADA.headers });
    expect(await last()).toEqual(['ada', 'revoke', 'key', id]);
    expect(JSON.stringify(lines())).not.toContain(key);
  });

  it('has decisions and imports', async () => {
    llm.reply({ calls: [callOf('pay', { to: 'shop', amount: 5 })] }, { text: 'the end' });
    const { body } = await jackdaw.chat({ query: 'go', sessionId: 's' }, ADA.headers);
    const run = String(body['run_id']);
    await jackdaw.post(`/api/runs/${run}/deny`, {}, ADA.headers);
    expect(await last()).toEqual(['ada', 'deny', 'run', run]);
    await jackdaw.events(run, ADA.headers);
    const { body: session } = await jackdaw.get('/api/sessions/s/export', ADA.headers);
    await jackdaw.send('/api/sessions/s', { method: 'DELETE', headers: ADA.headers });
    await jackdaw.post('/api/sessions/import', { id: 's2', session }, ADA.headers);
    expect(await last()).toEqual(['ada', 'import', 'session', 's2']);
  });
});
