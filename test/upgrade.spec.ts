import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { runCli } from './support/cli.js';
import type { FakeReply, FakeRequest } from './support/fake-llm.types.js';
import { IS_LONG_FORM } from './support/long-form.js';
import { expectCompleted } from './support/interrupted-runs.js';
import { ProcessWorld } from './support/process-world.js';
import { killAll, type ServerProcess } from './support/process.js';
import { describeDatabases, testServers, type TestDatabase } from './support/test-databases.js';

/** Dumps of databases of older code, by version; `npm run schema:dump` makes them. */
const DUMPS = 'test/fixtures/schemas';

interface DumpedRuns {
  readonly session: string;
  readonly completed: string;
  readonly waiting: string;
  readonly interrupted: string;
}

const world = ProcessWorld.prepare();
const servers = await testServers();
const versions = readdirSync(DUMPS);

/** Calls the tool that the last question names, once for each step. */
function model({ messages }: FakeRequest): FakeReply {
  const asked = messages.findLastIndex(({ role }) => role === 'user');
  const [, name = '', steps = '0'] = /(\w+_step) (\d+)/.exec(String(messages[asked]?.content)) ?? [];
  const done = messages.slice(asked).filter(({ role }) => role === 'tool').length;
  return done < Number(steps) ? { calls: [{ name, arguments: { step: done + 1 } }] } : { text: 'all done' };
}

function restore(kind: string, url: string, dump: Buffer): void {
  if (kind === 'sqlite') return writeFileSync(join(world.folder, 'jackdaw.db'), dump);
  const { hostname, port, username, password, pathname } = new URL(url);
  if (kind === 'postgres') execFileSync('psql', ['-q', '-v', 'ON_ERROR_STOP=1', url], { input: dump });
  else {
    const login = ['-h', hostname, '-P', port || '3306', '-u', username, ...(password ? [`-p${password}`] : [])];
    execFileSync('mariadb', [...login, pathname.slice(1)], { input: dump });
  }
}

it('there is a dump of a released or the present version', () => {
  expect(versions.length).toBeGreaterThan(0);
});

describe.each(versions)('a database of Jackdaw %s', (version) => {
  describeDatabases('under the present code', servers, (_shared, kind) => {
    const folder = join(DUMPS, version);
    const runs = (JSON.parse(readFileSync(join(folder, 'runs.json'), 'utf8')) as Record<string, DumpedRuns>)[kind]!;
    const file = join(folder, kind === 'sqlite' ? 'sqlite.db.gz' : `${kind}.sql.gz`);
    // A restored dump is a copy, whose runs would wait.
    const env = (): Record<string, string> => ({
      RECOVERY: 'resume',
      RUN_RETENTION_DAYS: '0',
      ...(kind === 'sqlite' ? {} : { DATABASE_URL: database.url, CLUSTER_LEASE_MS: '1500', CLUSTER_CHECK_MS: '300' }),
    });
    let database: TestDatabase;
    let server: ServerProcess;

    beforeEach(async () => {
      world.llm.always(model);
      database = await servers.find((one) => one.kind === kind)!.create();
      restore(kind, database.url, gunzipSync(readFileSync(file)));
    });
    afterEach(async () => {
      await killAll();
      await database.drop();
    });

    it('is migrated as a step of its own; its runs and sessions continue', async () => {
      const variables = { ...world.env(env()), MIGRATE: 'off' };
      const migrated = await runCli(['migrate', '--json'], { cwd: world.folder, env: variables });
      expect([migrated.code, migrated.err]).toEqual([0, '']);
      server = await world.start({ ...env(), MIGRATE: 'off' });
      await expectCompleted(server, runs.interrupted);
      const { body: ended } = await server.get(`/api/runs/${runs.completed}`);
      expect(ended).toMatchObject({ status: 'completed', result: 'all done' });
      const { body: turns } = await server.get(`/api/sessions/${runs.session}/messages`);
      expect(JSON.stringify(turns)).toContain('How are you?');
      await server.post(`/api/runs/${runs.waiting}/approve`, {});
      await expectCompleted(server, runs.waiting);
      // Recorded steps do not repeat.
      expect(world.effects()).toEqual([
        'idempotent_step 3',
        'idempotent_step 4',
        'idempotent_step 5',
        'approved_step 1',
      ]);
      const chat = await server.post('/api/agent/chat', { query: 'read_step 1', sessionId: runs.session });
      expect(chat).toMatchObject({ status: 200, body: { result: 'all done' } });
      expect(JSON.stringify(world.llm.lastRequest.messages)).toContain('How are you?');
      expect((await server.kill('SIGTERM')).code).toBe(0);
    });

    if (!IS_LONG_FORM && version !== versions.at(-1)) return;
    it('is migrated by a start, after which it is current', async () => {
      server = await world.start(env());
      await expectCompleted(server, runs.interrupted);
      await server.kill('SIGTERM');
      const { out } = await runCli(['doctor', '--json'], {
        cwd: world.folder,
        env: { ...world.env(env()), PORT: '0' },
      });
      const { checks } = JSON.parse(out) as { checks: readonly { name: string; detail: string }[] };
      expect(checks.find(({ name }) => name === 'database')?.detail).toContain('current and writable');
    });
  });
});
