import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Redis } from 'ioredis';
import type { DatabaseKind } from '../src/config/index.js';
import { SealedTableRegistry } from '../src/security/encryption/index.js';
import { ToolStateBackups } from '../src/tool-state/tool-state-backups.js';
import { ANN, BEN, ID, QUOTED, TEXT, UNIQUE, useEverything } from './support/marked-texts.js';
import { describeWorlds, newKey } from './support/private-world.js';
import { columnsOf, textsInFiles, textsInRedis, textsInTables, type StoredText } from './support/stored-records.js';
import { testRedisUrl, testServers, type TestServer } from './support/test-databases.js';

/** A database that no other spec uses. */
const redis = (await testRedisUrl())?.replace(/\/*$/, '/13');
const servers = await testServers();
const on = (...kinds: DatabaseKind[]) => servers.filter(({ kind }) => kinds.includes(kind));

/**
 * User data in each table. `texts`: texts, which erasure deletes and encryption encrypts. `ids`: ids and names,
 * which an erasure lists as remaining. `none`: nothing of users.
 */
const RULES: Readonly<Record<string, 'texts' | 'ids' | 'none'>> = {
  access_log: 'ids',
  api_key: 'ids',
  budget_entry: 'ids',
  budget_total: 'ids',
  call_approval: 'texts',
  call_rate: 'none',
  creation_key: 'none',
  disabled_tool: 'ids',
  eval_report: 'texts',
  fact: 'texts',
  idempotency_key: 'texts',
  mcp_server: 'ids',
  mcp_tool_pin: 'ids',
  run: 'texts',
  run_definition: 'texts',
  run_event: 'texts',
  run_feedback: 'texts',
  run_node: 'none',
  run_schedule: 'texts',
  run_step: 'texts',
  run_usage: 'ids',
  usage_day: 'ids',
  session: 'texts',
  session_summary: 'texts',
  session_turn: 'texts',
  signing_key: 'none',
  storage_probe: 'none',
  tool_state: 'texts',
  tool_state_change: 'texts',
  tool_state_entry: 'texts',
  tool_state_history: 'texts',
  tool_state_version: 'texts',
  turn_change: 'texts',
  webhook: 'ids',
  webhook_delivery: 'ids',
};
/** Columns of texts that stay readable with ENCRYPTION_KEYS, and why. */
const READABLE: Readonly<Record<string, string>> = {
  'api_key.scopes': 'names of scopes',
  'budget_entry.scopes': 'ids',
  'call_approval.decider': 'a principal: id, tenant, roles',
  'fact.data_facts': 'steps, ids and names of tools',
  'fact.terms': 'hashes',
  'mcp_tool_pin.definition': 'definitions of MCP servers',
  'mcp_tool_pin.pending_definition': 'definitions of MCP servers',
  'mcp_tool_pin.findings': 'findings in them',
  'mcp_tool_pin.hints': 'hints of MCP servers',
  'session.data_facts': 'steps, ids and names of tools',
  'webhook.events': 'types of events',
  'turn_change.change_data': 'empty: ENCRYPTION_KEYS refuses the session stores that need it',
};
const TEXT_TYPES = ['text', 'longtext', 'mediumtext', 'json', 'jsonb', 'bytea', 'blob', 'longblob'];
/** Tables of libraries, which store nothing of users: names of migrations and jobs with ids of runs. */
const isForeign = (table: string) =>
  /^(jackdaw_migration|jackdaw_property|typeorm_metadata|sqlite_.*|fact_terms.*|bullmq\b.*|jackdaw_schema)$/.test(
    table,
  );

const ENV = {
  API_KEYS: `${ANN.entry},${BEN.entry}`,
  ACCESS_LOG: 'on',
  BUDGET_SESSION: 'tokens=10000000',
  LONG_TERM_MEMORY: 'on',
  BUILTIN_TOOLS: 'sequentialthinking',
  TOOL_STATE_BACKUP: 'true',
};
interface World {
  readonly title: string;
  readonly servers: readonly TestServer[];
  readonly env: Readonly<Record<string, string>>;
  /** Whether its stores can be encrypted. */
  readonly keys: boolean;
}

const WORLDS: readonly World[] = [
  { title: 'in one database', servers: on('sqlite', 'postgres', 'mariadb'), env: { LLM_CACHE: 'memory' }, keys: true },
  {
    title: 'in a database and files',
    servers: on('sqlite'),
    env: { SESSION_STORE: 'file', TOOL_STATE_MANAGER: 'persistent', TOOL_STATE_FORMAT: 'json' },
    keys: false,
  },
  {
    title: 'in a database and files of states',
    servers: on('sqlite'),
    env: { TOOL_STATE_MANAGER: 'persistent' },
    keys: true,
  },
  {
    title: 'in a database and Redis',
    servers: redis === undefined ? [] : on('sqlite', 'postgres'),
    env: {
      REDIS_URL: redis ?? '',
      SESSION_STORE: 'redis',
      LLM_CACHE: 'redis',
      TOOL_STATE_MANAGER: 'distributed',
      TOOL_STATE_REDIS_URL: redis ?? '',
    },
    keys: false,
  },
];

interface Remainder {
  readonly kind: string;
  readonly where: string;
  readonly run_ids?: readonly string[];
  readonly count?: number;
}

describe.each(WORLDS)('the texts of users $title', ({ servers: used, env, keys }) => {
  describeWorlds('are walked', used, (current, kind) => {
    const all = async (): Promise<StoredText[]> => [
      ...(await textsInTables(current().database)),
      ...textsInFiles(current().jackdaw.dataDir),
      ...('REDIS_URL' in env ? await textsInRedis(env['REDIS_URL']) : []),
    ];
    const isDatabaseFile = ({ place }: StoredText) => /^file:.*\.(db|sqlite)(-wal|-shm)?$/.test(place);
    const placesOf = (texts: readonly StoredText[], marker: string) =>
      [...new Set(texts.filter(({ text }) => text.includes(marker)).map(({ place }) => place))].toSorted();

    const clear = async () => {
      if (!('REDIS_URL' in env)) return;
      const client = new Redis(env['REDIS_URL']);
      const mine = (await textsInRedis(env['REDIS_URL'])).filter(({ record }) => record.includes(UNIQUE));
      for (const { place } of mine) await client.del(place.slice('redis:'.length));
      client.disconnect();
    };
    beforeAll(clear);
    afterAll(clear);

    it('in tables that all have a rule', async () => {
      const { app } = await current().start('', { ...ENV, ...env });
      const columns = (await columnsOf(current().database)).filter(({ table }) => !isForeign(table));
      const tables = [...new Set(columns.map(({ table }) => table))].toSorted();
      expect(tables).toEqual(Object.keys(RULES).toSorted());
      const sealed = app.get(SealedTableRegistry, { strict: false }).list();
      const encrypted = sealed.flatMap(({ name, columns: of }) => of.map((column) => `${name}.${column.name}`));
      const texts = columns.filter(({ type }) => TEXT_TYPES.includes(type));
      expect(texts.map(({ table, column }) => `${table}.${column}`).toSorted()).toEqual(
        [...encrypted, ...Object.keys(READABLE)].toSorted(),
      );
    });

    it('and erased, or listed with what remains', async () => {
      const jackdaw = await current().start('', { ...ENV, ...env });
      const listed = await useEverything(current());
      await jackdaw.app.get(ToolStateBackups, { strict: false }).backup();
      const before = placesOf(await all(), TEXT);
      expect(before).toEqual(
        expect.arrayContaining(['run.input', 'run_step.result', 'run_event.data', 'run_definition.content']),
      );
      expect(before).toEqual(expect.arrayContaining(['session.metadata', 'fact.text']));
      const erased = await jackdaw.send(`/api/users/${ID}`, { method: 'DELETE', headers: ANN.headers });
      expect([erased.status, erased.body['code']]).toEqual([200, undefined]);
      const remaining = erased.body['remaining'] as unknown as Remainder[];
      const runsOf = (of: string) => remaining.find((one) => one.kind === of)?.run_ids;
      expect([runsOf('fork'), runsOf('answer')]).toEqual([[listed.fork], [listed.answered]]);
      expect(runsOf('conversation')?.toSorted()).toEqual(listed.later.toSorted());
      expect(remaining.filter((one) => one.kind === 'backup').map(({ count }) => count)).toEqual([1, undefined]);
      // Access log entries are written later.
      await current().start('', { ...ENV, ...env });

      const texts = await all();
      const isCache = ({ place }: StoredText) => 'REDIS_URL' in env && place.startsWith('redis:jackdaw:cache:');
      expect(
        placesOf(
          texts.filter((one) => !isCache(one)),
          TEXT,
        ),
      ).toEqual([]);
      const runs = remaining.flatMap(({ run_ids = [] }) => run_ids);
      const quoting = texts.filter((one) => one.text.includes(QUOTED) && !isDatabaseFile(one) && !isCache(one));
      expect(quoting.length).toBeGreaterThan(3);
      expect(quoting.filter(({ record }) => !runs.some((id) => record.includes(id))).map(({ place }) => place)).toEqual(
        [],
      );
      const ids = remaining.find((one) => one.kind === 'ids')!.where;
      const withIds = texts.filter((one) => one.text.includes(ID) && !isDatabaseFile(one));
      const unlisted = withIds.filter(({ place, record }) => {
        const table = place.split('.')[0]!;
        const isListed =
          new RegExp(`\\b${table}\\b`).test(ids) || (table.endsWith(':done') && ids.includes('SESSION_STORE'));
        return !isListed && !runs.some((id) => record.includes(id));
      });
      expect(unlisted.map(({ place }) => place)).toEqual([]);
      expect(remaining.filter((one) => one.kind === 'cache').length).toBe(1);
      expect(remaining.filter((one) => one.kind === 'database').length).toBe(kind === 'sqlite' ? 0 : 1);
    });

    if (keys) {
      it('and encrypted', async () => {
        const [k1, k2] = [newKey('k1'), newKey('k2')];
        await current().start('', { ...ENV, ...env });
        await useEverything(current(), '2');
        await current().start(k1, { ...ENV, ...env });
        expect(await current().reencrypt()).toMatchObject({ failed: 0, isWhole: true });
        const markers = [TEXT, QUOTED, Buffer.from(TEXT).toString('base64').slice(0, -4)];
        const inPlain = async () => {
          const texts = await all();
          return markers.flatMap((marker) => placesOf(texts, marker));
        };
        expect(await inPlain()).toEqual([]);
        await useEverything(current(), '3');
        expect(await inPlain()).toEqual([]);
        await current().start(`${k2},${k1}`, { ...ENV, ...env });
        expect(await current().reencrypt()).toMatchObject({ failed: 0, isWhole: true });
        await current().start(k2, { ...ENV, ...env, ENCRYPTION_STRICT: 'true' });
        expect(placesOf(await all(), 'enc:1:k1:')).toEqual([]);
        expect(await inPlain()).toEqual([]);
      });
    }
  });
});
