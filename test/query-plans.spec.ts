import { afterAll, beforeAll, expect, it } from 'vitest';
import { Client } from 'pg';
import { Database } from '../src/persistence/index.js';
import { RunRetentionService } from '../src/run/retention/run-retention.service.js';
import { UsageDayStore } from '../src/run/usage/usage-day.store.js';
import { keyHolder } from './support/api-keys.js';
import { type Jackdaw, newFolder, startJackdaw } from './support/jackdaw.js';
import { describeDatabases, testServers } from './support/test-databases.js';

const ANN = keyHolder('ann', 'default', 'user');
const ADA = keyHolder('ada', 'default', 'admin');
const OLGA = keyHolder('olga', 'default', 'operator');
const ENV = { API_KEYS: [ANN, ADA, OLGA].map(({ entry }) => entry).join(','), ACCESS_LOG: 'on' };

/** Tables with a row or more for each run or session. */
const GROWING = [
  'access_log',
  'creation_key',
  'idempotency_key',
  'run',
  'run_event',
  'run_feedback',
  'run_step',
  'run_usage',
  'session',
  'session_turn',
  'usage_day',
  'webhook_delivery',
];
const MONTH_MS = 30 * 86_400_000;

/** Reads that the console, the clients and the maintenance make. `:run` and `:session` are of a run with a session. */
const READS = [
  '/api/runs',
  '/api/runs?limit=1',
  '/api/runs?status=failed,completed',
  '/api/runs?status=waiting',
  '/api/runs?agent=assistant',
  '/api/runs?kind=agent',
  '/api/runs?error_code=LLM_UNAVAILABLE',
  '/api/runs?session_id=:session',
  '/api/runs?sessionId=:session',
  '/api/runs?from=2026-01-01T00:00:00Z&to=2026-01-02T00:00:00Z',
  '/api/runs?text=hello',
  '/api/runs/counts?from=2026-01-01T00:00:00Z',
  '/api/runs/:run',
  '/api/runs/:run/journal',
  '/api/runs/:run/export',
  '/api/runs/:run/feedback',
  '/api/waiting',
  '/api/waiting?agent=assistant',
  '/api/usage',
  '/api/usage?by=session',
  '/api/usage?by=session&from=2026-01-01&to=2026-01-02',
  '/api/usage?by=agent&agent=assistant&model=offline',
  '/api/usage?sessionId=:session',
  '/api/usage/latency',
  '/api/usage/latency?by=model',
  '/api/usage/budgets',
  '/api/usage/tenants',
  '/api/sessions',
  '/api/sessions/:session',
  '/api/sessions/:session/messages',
  '/api/feedback',
  '/api/agent/health',
  '/health/ready',
  '/metrics',
];

describeDatabases(
  'query plans',
  (await testServers()).filter(({ kind }) => kind !== 'mariadb'),
  (created) => {
    let jackdaw: Jackdaw;
    const folder = newFolder();
    const start = () => startJackdaw({ dataDir: folder, env: { ...ENV, DATABASE_URL: created().url } });

    beforeAll(async () => {
      jackdaw = await start();
      const { body } = await jackdaw.chat({ query: 'hello' }, ANN.headers);
      const { run_id: run, session_id: session } = body as unknown as { run_id: string; session_id: string };
      await jackdaw.chat({ query: 'hello again', sessionId: session }, { ...ANN.headers, 'idempotency-key': 'k' });
      await jackdaw.stop().catch(() => undefined);
      jackdaw = await start();
      await jackdaw.chat({ query: 'what is 2 + 3?', sessionId: session, deadlineMs: 60_000 }, ANN.headers);
      await jackdaw.post(`/api/runs/${run}/fork`, { fromStep: 'model:1' }, ANN.headers);
      await jackdaw.post(`/api/runs/${run}/feedback`, { score: 1 }, ANN.headers);
      for (const path of READS) {
        for (const { headers } of [ANN, ADA, OLGA])
          await jackdaw.get(path.replace(':run', run).replace(':session', session), headers);
      }
      await jackdaw.app.get(UsageDayStore, { strict: false }).add(100);
      await jackdaw.app.get(RunRetentionService, { strict: false }).sweep(Date.now() + 20 * MONTH_MS);
    });
    afterAll(() => jackdaw.stop());

    it('use an index of each table that grows with runs, for every statement of a server', async () => {
      const statements = statementsOf(jackdaw.app.get(Database, { strict: false }));
      expect(statements.length).toBeGreaterThan(60);
      const explain = created().kind === 'sqlite' ? explainSqlite(jackdaw) : await explainPostgres(created().url);
      const scans: Record<string, string[]> = {};
      for (const sql of statements) {
        const scanned = scansIn(await explain.plan(sql)).filter((table) => GROWING.includes(tableOf(table, sql)));
        if (scanned.length > 0 && !LAST_ROW.test(sql)) scans[sql] = scanned;
      }
      await explain.end();
      expect(scans).toEqual({});
      const found = statements.filter((sql) => GROWING.includes(FIRST_OF_RANGE.exec(sql)?.[1] ?? ''));
      expect(found).toEqual([]);
    });
  },
);

/** Without an order, PostgreSQL expects to find such a row soon, and reads a whole table that has none. */
const FIRST_OF_RANGE = / FROM (\w+) WHERE \w+ < \S+ LIMIT 1$/;

/** Reads the last row of a key. */
const LAST_ROW = / FROM \w+ ORDER BY [\w, ]+ DESC LIMIT 1$/;

/** The texts that an open database has prepared. */
function statementsOf(database: Database): string[] {
  const prepared: unknown = Reflect.get(database, 'prepared');
  if (prepared instanceof Map)
    return [...prepared.keys()].filter((sql: string) => /^\s*(?:SELECT|UPDATE|DELETE|INSERT)/i.test(sql));
  const { known } = Reflect.get(database, 'statements') as { known: ReadonlyMap<string, { readonly text: string }> };
  return [...known.values()].map(({ text }) => text);
}

/** The table of an alias. */
function tableOf(alias: string, sql: string): string {
  return (
    new RegExp(`\\b(\\w+) (?:AS )?${alias}\\b`, 'i').exec(
      sql.replaceAll(/\b(?:FROM|JOIN|UPDATE|INTO)\b/gi, ','),
    )?.[1] ?? alias
  );
}

interface Explain {
  plan(sql: string): Promise<readonly string[]>;
  end(): Promise<void>;
}

function explainSqlite(jackdaw: Jackdaw): Explain {
  const database = jackdaw.app.get(Database, { strict: false });
  const plan = async (sql: string) => {
    const params = Array.from({ length: sql.split('?').length - 1 }, () => null);
    const rows = await database.query<{ detail: string }>(`EXPLAIN QUERY PLAN ${sql}`, params);
    return rows.map(({ detail }) => detail);
  };
  return { plan, end: async () => undefined };
}

/** Without statistics and with small tables the server would choose sequential scans. */
async function explainPostgres(url: string): Promise<Explain> {
  const client = new Client(url);
  await client.connect();
  await client.query('SET enable_seqscan = off; SET plan_cache_mode = force_generic_plan');
  const plan = async (sql: string) => {
    await client.query(`PREPARE explained AS ${sql}`);
    const { rows } = await client.query<{ n: number }>(
      `SELECT COALESCE(array_length(parameter_types, 1), 0) AS n FROM pg_prepared_statements WHERE name = 'explained'`,
    );
    const nulls = Array.from({ length: rows[0]!.n }, () => 'NULL').join(', ');
    const found = await client.query<Record<string, string>>(`EXPLAIN EXECUTE explained${nulls && `(${nulls})`}`);
    await client.query('DEALLOCATE explained');
    return found.rows.map((row) => row['QUERY PLAN']!);
  };
  return { plan, end: () => client.end() };
}

/** The tables, or aliases, that a plan reads as a whole. */
function scansIn(plan: readonly string[]): string[] {
  return plan.flatMap(
    (line) =>
      /^SCAN (\w+)/.exec(line)?.[1] ??
      /Seq Scan on \w+ (\w+)|Seq Scan on (\w+)/.exec(line)?.slice(1).find(Boolean) ??
      [],
  );
}
