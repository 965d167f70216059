import { Inject, Injectable, type FactoryProvider } from '@nestjs/common';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type Cache, OWN_CACHE } from '../cache/index.js';
import { cacheConfig, type CacheConfig, databaseConfig, type DatabaseConfig } from '../config/namespaces/index.js';
import {
  sessionConfig,
  type SessionConfig,
  toolStateConfig,
  type ToolStateConfig,
} from '../config/namespaces/index.js';
import { RunEraseStore } from '../run/index.js';
import { OWN_MEMORIES, type OwnMemories } from '../session/memory/index.js';
import { AgentRegistry } from './definition/agent.registry.js';

/** Data that an erasure leaves, with their place and a remedy. */
export interface Remainder {
  /**
   * `fork`: runs of others that copied a run of the user. `answer`: runs of others with decisions of the user.
   * `conversation`: runs of others after a run of the user in the same session; their texts may quote the user. `cache`,
   * `backup` and `database`: copies outside of the records. `ids`: ids and names without texts.
   */
  readonly kind: 'fork' | 'answer' | 'conversation' | 'cache' | 'backup' | 'database' | 'ids';
  readonly where: string;
  readonly action: string;
  /** Number of runs or files, if known. */
  readonly count?: number;
  /** The runs, at most 100. */
  readonly run_ids?: string[];
}

/** Maximum number of run ids in one entry. */
const NAMED = 100;
const DELETE_RUNS =
  'Erase the user of these runs too, or wait for RUN_RETENTION_DAYS, which deletes their inputs, steps and events.';
const IDS: Remainder = {
  kind: 'ids',
  where:
    'tables access_log, api_key, budget_entry, budget_total, call_approval, disabled_tool, mcp_server, mcp_tool_pin, run, run_usage, webhook',
  action:
    'Ids of the user, its sessions and runs, and names of its API keys, without other texts. Revoke its keys; ' +
    'ACCESS_LOG_RETENTION_DAYS deletes entries of the access log.',
};
const OWN_BACKUPS: Remainder = {
  kind: 'backup',
  where: 'backups that you make of the database, of Redis and of DATA_DIR',
  action: 'Delete those from before the erasure, or erase the user again after you restore one.',
};

/** Where copies outside of the records are. */
interface CopyPlaces {
  readonly cache: CacheConfig;
  readonly database: DatabaseConfig;
  readonly sessions: SessionConfig;
  readonly states: ToolStateConfig;
  /** Class of the application's own cache. */
  readonly ownCache: string | undefined;
  /** Names of the application's own memories. */
  readonly memories: readonly string[];
}

const COPY_PLACES = Symbol('COPY_PLACES');

export const COPY_PLACES_PROVIDER: FactoryProvider<CopyPlaces> = {
  provide: COPY_PLACES,
  useFactory: (cache, database, sessions, states, ownCache?: Cache | null, memories: OwnMemories = {}) => {
    const names = { ownCache: ownCache?.constructor.name, memories: Object.keys(memories) };
    return { cache, database, sessions, states, ...names };
  },
  inject: [
    cacheConfig.KEY,
    databaseConfig.KEY,
    sessionConfig.KEY,
    toolStateConfig.KEY,
    { token: OWN_CACHE, optional: true },
    { token: OWN_MEMORIES, optional: true },
  ],
};

/** Finds what remains of an erased user. */
@Injectable()
export class ErasureRemainsService {
  constructor(
    private readonly runs: RunEraseStore,
    private readonly agents: AgentRegistry,
    @Inject(COPY_PLACES) private readonly places: CopyPlaces,
  ) {}

  /** Hashes of the definitions that remain, because agents use them now. */
  definitions(): ReadonlySet<string> {
    return this.agents.hashes();
  }

  /** Records of others with texts of the user. It must be called before the runs are erased. */
  async records(tenant: string, userId: string, runIds: readonly string[]): Promise<Remainder[]> {
    const own = new Set(runIds);
    const [forks, answers, later] = [
      await this.runs.forksOf(tenant, own),
      await this.runs.answeredBy(tenant, userId, own),
      await this.runs.afterIn(tenant, own),
    ];
    return [
      ...toRecords('fork', 'runs that others forked from runs of the user', forks),
      ...toRecords('answer', 'decisions of the user in runs of others', answers),
      ...toRecords('conversation', 'runs of others in sessions of the user, which may quote the user', later),
    ];
  }

  /** Copies outside of the records. */
  async copies(): Promise<Remainder[]> {
    const { database, sessions, memories } = this.places;
    const backups = await this.backups();
    return [
      ...this.cached(),
      ...memories.map(toMemory),
      ...(backups > 0 ? [this.stateBackups(backups)] : []),
      OWN_BACKUPS,
      ...(database.kind === 'sqlite' ? [] : [FREED_ROWS]),
      sessions.store.kind === 'redis' || sessions.store.kind === 'database' ? withSessionStore(IDS) : IDS,
    ];
  }

  private cached(): Remainder[] {
    const { cache, ownCache } = this.places;
    const { kind, ttlSeconds } = cache;
    const ofTools = 'Results of tools with a cache expire after the lifetime that the tool declares.';
    const replies = `Replies expire within ${ttlSeconds} s (LLM_CACHE_TTL_SECONDS). ${ofTools}`;
    if (ownCache !== undefined) {
      const action = `Entries expire as it decides. ${ofTools} Or delete its entries.`;
      return [{ kind: 'cache', where: `the application's cache ${ownCache}`, action }];
    }
    switch (kind) {
      case 'off':
        return [{ kind: 'cache', where: 'memory of each process', action: `${ofTools} A restart ends them at once.` }];
      case 'memory':
        return [{ kind: 'cache', where: 'memory of each process', action: `${replies} A restart ends them at once.` }];
      case 'redis':
        return [
          { kind: 'cache', where: 'keys jackdaw:cache:* at REDIS_URL', action: `${replies} Or delete these keys.` },
        ];
    }
  }

  private stateBackups(count: number): Remainder {
    const { backup } = this.places.states;
    const action = backup
      ? `Deleted after ${backup.keptDays} days (TOOL_STATE_BACKUP_RETENTION_DAYS); or delete the files.`
      : 'Delete the files: TOOL_STATE_BACKUP is off, so nothing deletes them.';
    return { kind: 'backup', where: 'files tool-states-* in DATA_DIR/backups', action, count };
  }

  /** Number of backups of tool states; also those from before the backups were disabled. */
  private async backups(): Promise<number> {
    const names = await readdir(join(this.places.database.dataDir, 'backups')).catch(() => []);
    return names.filter((name) => name.startsWith('tool-states-')).length;
  }
}

function toMemory(name: string): Remainder {
  const action =
    'Messages in memory are released an hour after their last use, or at a restart. Delete data that the memory has ' +
    'stored itself.';
  return { kind: 'cache', where: `the application's memory "${name}"`, action };
}

const FREED_ROWS: Remainder = {
  kind: 'database',
  where: 'files of the database server',
  action:
    'Deleted rows stay in them until the server needs the space; rewrite the tables (VACUUM FULL, OPTIMIZE TABLE).',
};

function withSessionStore({ where, ...ids }: Remainder): Remainder {
  return { ...ids, where: `${where}, and for a day the ids of the sessions in SESSION_STORE` };
}

function toRecords(kind: Remainder['kind'], where: string, runIds: readonly string[]): Remainder[] {
  if (runIds.length === 0) return [];
  return [{ kind, where, action: DELETE_RUNS, count: runIds.length, run_ids: runIds.slice(0, NAMED) }];
}
