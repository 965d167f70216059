import { afterAll, beforeAll, expect, it } from 'vitest';
import * as fc from 'fast-check';
import { FAULT_SESSIONS } from './support/fault-sessions.js';
import { providerSessions } from './support/provider-session-plan.js';
import { ProviderWorld } from './support/provider-world.js';

/** `npm run test:properties` sets a higher number. */
const RUNS = Number(process.env['PROPERTY_RUNS'] ?? 25);
/** A round may miss a rare outcome by chance; all rounds together must not. */
const ROUNDS = 8;
/** Time for all random sessions; one takes about 0.3 s. */
const PATIENCE_MS = 600_000 + ROUNDS * RUNS * 3_000;
/** Outcomes that random sessions must include, so that the property covers them. */
const OUTCOMES = [
  'cancelled',
  'content_filter',
  'fork',
  'import 201',
  'length',
  'run.completed',
  'run.waiting',
  'stop',
];

let world: ProviderWorld;
beforeAll(async () => void (world = await ProviderWorld.open()));
afterAll(() => world.close());

it(
  'every request of any session obeys the rules of its provider',
  async () => {
    const property = fc.asyncProperty(providerSessions, async (session) => {
      const broken = await world.play(session);
      expect([...broken]).toEqual([]);
    });
    for (let round = 0; round < ROUNDS && !OUTCOMES.every((one) => world.outcomes.has(one)); round++)
      await fc.assert(property, { numRuns: RUNS });
    expect([...world.outcomes]).toEqual(expect.arrayContaining(OUTCOMES));
  },
  PATIENCE_MS,
);

it.each(Object.entries(FAULT_SESSIONS))('a repaired fault stays repaired: %s', async (rule, session) => {
  const broken = await world.play(session);
  expect([rule, broken.has(rule)]).toEqual([rule, false]);
});
