import { afterAll, describe } from 'vitest';
import { FaultProxy } from '../support/fault-proxy.js';
import { describeDatabases, testServers } from '../support/test-databases.js';
import { itLosesNothing, itSurvives, OutageWorld } from './outage-world.js';

const servers = (await testServers()).filter(({ kind }) => kind === 'mariadb');

describeDatabases('an outage', servers, (database) => {
  let proxy: FaultProxy;
  const world = OutageWorld.prepare(async () => {
    proxy = await FaultProxy.start(new URL(database().url), 3306);
    return { DATABASE_URL: proxy.through(database().url) };
  });
  afterAll(() => proxy.close());

  describe.each(['cut', 'silent'] as const)('with a network that is %s', (state) => {
    const outage = () => ({ begin: () => proxy.become(state), end: () => proxy.become('pass') });
    itSurvives(world, outage);
    itLosesNothing(world, outage);
  });
});
