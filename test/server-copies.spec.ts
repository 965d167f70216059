import { expect, it } from 'vitest';
import { execFileSync } from 'node:child_process';
import { expectCompleted, interrupt, PAUSED, statusesOf } from './support/interrupted-runs.js';
import { ProcessWorld } from './support/process-world.js';
import { describeDatabases, testServers } from './support/test-databases.js';

const servers = (await testServers()).filter(({ kind }) => kind !== 'sqlite');
const world = ProcessWorld.prepare();
const LEASE = { CLUSTER_LEASE_MS: '1500', CLUSTER_CHECK_MS: '300' };

function run(command: string): void {
  execFileSync('bash', ['-o', 'pipefail', '-c', command], { stdio: 'pipe' });
}

/** Dumps a database and restores the dump into an empty one. */
function restore(from: string, to: string): void {
  if (from.startsWith('postgres')) {
    run(`pg_dump --no-owner '${from}' | psql -q -v ON_ERROR_STOP=1 '${to}'`);
    return;
  }
  const [source, target] = [new URL(from), new URL(to)].map(({ hostname, port, username, password, pathname }) => {
    const login = `-h '${hostname}' -P ${port || 3306} -u '${username}' ${password && `-p'${password}'`}`;
    return `${login} '${pathname.slice(1)}'`;
  });
  run(`mariadb-dump --single-transaction ${source} | mariadb ${target}`);
}

describeDatabases('a restored dump', servers, (database, kind) => {
  it('waits for a person in another database, and the original resumes by itself', async () => {
    const env = { ...LEASE, DATABASE_URL: database().url };
    const runs = await interrupt(world, env);
    const copy = await servers.find((server) => server.kind === kind)!.create();
    try {
      restore(database().url, copy.url);
      const before = world.effects();
      const paused = await world.start({ ...LEASE, DATABASE_URL: copy.url });
      expect(await statusesOf(paused, runs)).toEqual(PAUSED);
      await paused.kill();
      expect(world.effects()).toEqual(before);
      const original = await world.start(env);
      await expectCompleted(original, ...Object.values(runs));
      await original.kill('SIGTERM');
      const server = await world.start({ ...LEASE, DATABASE_URL: copy.url });
      expect(await statusesOf(server, runs)).toEqual(PAUSED);
      const released = await server.post('/api/runs/release');
      expect((released.body as unknown as { run_ids: string[] }).run_ids.toSorted()).toEqual(
        [runs.running, runs.queued, runs.alone].toSorted(),
      );
      await expectCompleted(server, ...Object.values(runs));
      await server.kill('SIGTERM');
    } finally {
      await copy.drop();
    }
  });
});

describeDatabases(
  'a dump that was restored into its own database',
  servers.filter(({ kind }) => kind === 'postgres'),
  (database) => {
    it('waits for a person: its tables are new', async () => {
      const { url } = database();
      const runs = await interrupt(world, { ...LEASE, DATABASE_URL: url });
      const file = `${world.folder}/dump.sql`;
      run(`pg_dump --no-owner --clean --if-exists '${url}' > ${file} && psql -q -v ON_ERROR_STOP=1 '${url}' < ${file}`);
      const server = await world.start({ ...LEASE, DATABASE_URL: url });
      expect(await statusesOf(server, runs)).toEqual(PAUSED);
      await server.kill('SIGTERM');
    });
  },
);

describeDatabases('RECOVERY=pause', servers, (database, kind) => {
  it('pauses the runs of a database that no other process serves', async () => {
    const env = { ...LEASE, DATABASE_URL: database().url };
    const runs = await interrupt(world, env);
    const server = await world.start({ ...env, RECOVERY: 'pause' });
    expect(await statusesOf(server, runs)).toEqual(PAUSED);
    if (kind === 'postgres') {
      // A second process does not pause the runs of the first.
      await server.post('/api/runs/release');
      const other = await world.start({ ...env, RECOVERY: 'pause' });
      await expectCompleted(other, ...Object.values(runs));
      await other.kill('SIGTERM');
    }
    await server.kill('SIGTERM');
  });
});
