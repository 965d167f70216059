import { describe } from 'vitest';
import { LimitedRole } from '../support/limited-role.js';
import { describeDatabases, testServers } from '../support/test-databases.js';
import { itSurvives, OutageWorld } from './outage-world.js';

const servers = (await testServers()).filter(({ kind }) => kind === 'postgres');

describeDatabases('a limit of connections', servers, (database) => {
  describe('that a running process reaches', () => {
    const role = LimitedRole.prepare(database);
    const world = OutageWorld.prepare(() => ({ DATABASE_URL: role.url }));
    const isNoticed = () => world.lines().some((line) => line.startsWith('The database is unavailable'));
    const outage = () => ({
      begin: async () => {
        await role.limit(0);
        // The server does not yet list a connection that was just starting.
        while (!isNoticed()) await role.disconnect();
      },
      end: () => role.limit(-1),
    });
    itSurvives(world, outage);
  });
});
