import { expect, it } from 'vitest';
import { ForkWorld } from './support/forks.js';
import { describeDatabases, testServers } from './support/test-databases.js';

const servers = await testServers();

describeDatabases('a fork in a whole application', servers, (created) => {
  it('copies its recorded steps and resumes after them', async () => {
    const world = await ForkWorld.start({ env: { DATABASE_URL: created().url } });
    try {
      const { runId } = await world.talk();
      const fork = await world.forks.make(runId, 'tool:2:1', { toolResult: 5, model: { name: 'third-model' } });
      expect(fork.events.at(-1)!.data).toMatchObject({ type: 'run.completed', result: 'the end' });
      expect(world.llm.requests.map(({ model }) => model)).toEqual(['third-model']);
      expect(world.tools.called).toEqual([]);
      expect(await world.jackdaw.messages(fork.sessionId)).toHaveLength(9);
      const { body } = await world.jackdaw.get('/api/runs?status=completed&limit=1');
      expect(body['runs']).toMatchObject([{ run_id: fork.id, forked_from: runId }]);
    } finally {
      await world.stop();
    }
  });
});
