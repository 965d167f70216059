import { afterAll, beforeAll, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { talks } from './support/talk-plan.js';
import { TalkWorld } from './support/talk-world.js';
import { describeDatabases, testServers } from './support/test-databases.js';

const servers = await testServers();
/** What must have happened among so many talks, so that they are no small talk. */
const OUTCOMES = ['MODEL_REFUSED', 'cancelled', 'fork', 'iteration_limit', 'restart', 'stop', 'waiting'];
const ROUNDS = 4;
const TALKS = { sqlite: 60, postgres: 6, mariadb: 6 };

async function expectAccepted(world: TalkWorld, numRuns: number): Promise<void> {
  const property = fc.asyncProperty(talks, async (talk) => expect(await world.play(talk)).toEqual([]));
  await fc.assert(property, { numRuns });
}

describeDatabases('what models are asked', servers, (created, kind) => {
  let world: TalkWorld;
  beforeAll(async () => {
    world = await TalkWorld.open(kind === 'sqlite' ? {} : { DATABASE_URL: created().url });
  });
  afterAll(() => world.close());

  it('is a history that OpenAI and Anthropic take, whatever has happened', async () => {
    const expected = kind === 'sqlite' ? OUTCOMES : ['stop'];
    // Chance may leave out a rare outcome once, but not in every round.
    for (let round = 0; round < ROUNDS && !expected.every((one) => world.outcomes.has(one)); round++)
      await expectAccepted(world, TALKS[kind]);
    expect([...world.outcomes]).toEqual(expect.arrayContaining(expected));
  });
});

it('is a history that they take when sessions are in files, too', async () => {
  const world = await TalkWorld.open({ SESSION_STORE: 'file' });
  await expectAccepted(world, 15);
  await world.close();
});
