import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { Logger } from '@nestjs/common';
import { callSite } from '../../test/support/call-site.js';
import { openDatabase, type OpenDatabase } from '../../test/support/run-host.js';
import { testRedisUrl } from '../../test/support/test-databases.js';
import { newId } from '../kernel/index.js';
import { loadConfig } from '../config/index.js';
import type { CheckedCall } from '../tool/index.js';
import { CallRates } from './call-rate.service.js';
import { SecurityPolicies } from './security-policies.registry.js';
import type { SecurityPolicy } from './security-policy.schema.js';

Logger.overrideLogger(false);
const redis = await testRedisUrl();

const CALL: CheckedCall = {
  tool: {
    definition: { name: 'probe', description: 'For a test.', inputSchema: { type: 'object' } },
    metadata: { effect: 'read', source: 'Test.probe', egress: false, untrusted: false },
    validate: (value) => ({ valid: true, value }),
    invoke: () => 1,
  },
  input: {},
};

let database: OpenDatabase;
beforeAll(async () => {
  database = await openDatabase();
});
afterAll(() => database.close());

const opened: CallRates[] = [];
afterEach(async () => {
  for (const rates of opened.splice(0)) await rates.onApplicationShutdown();
});

async function ratesOf(policy: SecurityPolicy, env = {}): Promise<CallRates> {
  const { config } = loadConfig({ env });
  const rates = new CallRates(await SecurityPolicies.open(undefined, policy), config.database, database.database);
  opened.push(rates);
  return rates;
}

describe('an unavailable store of call counts', () => {
  const AWAY = { REDIS_URL: 'redis://127.0.0.1:1' };
  const rateLimits = [{ per: 'tool' as const, calls: 5 }];

  it('rejects every limited call', async () => {
    const rates = await ratesOf({ rateLimits }, AWAY);
    expect(await rates.admit(CALL, callSite())).toEqual({
      note: { policy: 'rate-limit', decision: 'limited', reason: 'calls cannot be counted now' },
      rejected: expect.objectContaining({ success: false, code: 'TOOL_RATE_LIMITED' }),
    });
  });

  it('admits the call if the policy allows that, with a note', async () => {
    const rates = await ratesOf({ rateLimits, whenUncounted: 'allow' }, AWAY);
    expect(await rates.admit(CALL, callSite())).toEqual({
      note: { policy: 'rate-limit', decision: 'allowed', reason: 'calls cannot be counted now' },
    });
  });
});

describe('the count of calls', () => {
  it('is separate for each tenant', async () => {
    const rates = await ratesOf({ rateLimits: [{ per: 'tenant', calls: 1 }] });
    const of = (tenant: string) => callSite({ principal: { id: 'p', tenant, roles: [] } });
    const decisions = [];
    for (const tenant of ['a', 'a', 'b']) decisions.push((await rates.admit(CALL, of(tenant))).note.decision);
    expect(decisions).toEqual(['allowed', 'limited', 'allowed']);
  });

  it('is separate for each run without a session', async () => {
    const rates = await ratesOf({ rateLimits: [{ per: 'session', calls: 1 }] });
    const decisions = [];
    for (const runId of ['a', 'a', 'b']) decisions.push((await rates.admit(CALL, callSite({ runId }))).note.decision);
    expect(decisions).toEqual(['allowed', 'limited', 'allowed']);
  });

  // Without a Redis the test fails in CI.
  const inRedis = redis !== null || process.env['CI'] ? [{ place: 'Redis', env: { REDIS_URL: redis ?? '' } }] : [];
  const inMemory = { place: inRedis.length > 0 ? 'memory' : 'memory (skipped: in Redis, which is absent)', env: {} };

  it.each([inMemory, ...inRedis])(
    'includes a call once in $place when several limits apply to it: the narrowest decides',
    async (one) => {
      const both = [{ per: 'tool' as const }, { per: 'tool' as const, tools: ['pro*'], calls: 3 }];
      const rates = await ratesOf({ rateLimits: both }, one.env);
      const site = callSite({ principal: { id: 'p', tenant: newId(), roles: [] } });
      const notes = [];
      for (let n = 0; n < 4; n++) notes.push((await rates.admit(CALL, site)).note);
      expect(notes.map(({ decision }) => decision)).toEqual(['allowed', 'allowed', 'allowed', 'limited']);
      expect(notes[3]?.reason).toBe('3 calls in 3600 s of this tool are the limit');
    },
  );

  it('does not include tools without a limit', async () => {
    const rates = await ratesOf({ rateLimits: [{ per: 'tool', tools: ['other_*'] }] });
    expect(rates.concerns(CALL)).toBe(false);
  });
});
