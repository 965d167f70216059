import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import * as fc from 'fast-check';
import { talks } from './support/talk-plan.js';
import { TalkWorld } from './support/talk-world.js';
import { describeDatabases, testServers } from './support/test-databases.js';

const servers = await testServers();
/** Outcomes that the random conversations must include, so that the property covers them. */
const OUTCOMES = ['MODEL_REFUSED', 'cancelled', 'fork', 'iteration_limit', 'restart', 'stop', 'waiting'];
const ROUNDS = 12;
/** Conversations of a round on SQLite; `npm run test:properties` raises it. */
const RUNS = Number(process.env['PROPERTY_RUNS'] ?? 20);
const FEW = Math.max(4, Math.ceil(RUNS / 10));
const TALKS = { sqlite: RUNS, postgres: FEW, mariadb: FEW };
/** Time for all rounds; one conversation takes about 0.3 s. */
const TIMEOUT_MS = 600_000 + ROUNDS * RUNS * 3_000;
vi.setConfig({ testTimeout: TIMEOUT_MS, hookTimeout: TIMEOUT_MS });

async function expectAccepted(world: TalkWorld, numRuns: number): Promise<void> {
  const property = fc.asyncProperty(talks, async (talk) => {
    expect(await world.play(talk)).toEqual([]);
  });
  await fc.assert(property, { numRuns });
}

describeDatabases('the history of a model request', servers, (created, kind) => {
  let world: TalkWorld;
  beforeAll(async () => {
    world = await TalkWorld.open(kind === 'sqlite' ? {} : { DATABASE_URL: created().url });
  });
  afterAll(() => world.close());

  it('is accepted by the rules of OpenAI and Anthropic after any events', async () => {
    const expected = kind === 'sqlite' ? OUTCOMES : ['stop'];
    // A round may miss a rare outcome by chance; all rounds together must not.
    for (let round = 0; round < ROUNDS && !expected.every((one) => world.outcomes.has(one)); round++)
      await expectAccepted(world, TALKS[kind]);
    expect([...world.outcomes]).toEqual(expect.arrayContaining(expected));
  });
});

it("a model's history in session files is accepted by the rules of OpenAI and Anthropic, too", async () => {
  const world = await TalkWorld.open({ SESSION_STORE: 'file' });
  await expectAccepted(world, Math.ceil(RUNS / 2));
  await world.close();
});
