import { Inject, Injectable } from '@nestjs/common';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { cacheConfig, type CacheConfig, databaseConfig, type DatabaseConfig } from '../config/index.js';
import { sessionConfig, type SessionConfig, toolStateConfig, type ToolStateConfig } from '../config/index.js';
import { RunEraseStore } from '../run/index.js';
import { AgentRegistry } from './agent.registry.js';

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
    'tables access_log, api_key, budget_entry, budget_total, call_approval, disabled_tool, mcp_server, mcp_tool_pin, run, run_usage',
  action:
    'Ids of the user, its sessions and runs, and names of its API keys, without other texts. Revoke its keys; ' +
    'ACCESS_LOG_RETENTION_DAYS deletes entries of the access log.',
};
const OWN_BACKUPS: Remainder = {
  kind: 'backup',
  where: 'backups that you make of the database, of Redis and of DATA_DIR',
  action: 'Delete those from before the erasure, or erase the user again after you restore one.',
};

/** Finds what remains of an erased user. */
@Injectable()
export class ErasureRemainsService {
  constructor(
    private readonly runs: RunEraseStore,
    private readonly agents: AgentRegistry,
    @Inject(cacheConfig.KEY) private readonly cache: CacheConfig,
    @Inject(databaseConfig.KEY) private readonly database: DatabaseConfig,
    @Inject(sessionConfig.KEY) private readonly sessions: SessionConfig,
    @Inject(toolStateConfig.KEY) private readonly states: ToolStateConfig,
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
    const backups = await this.backups();
    return [
      ...this.cached(),
      ...(backups > 0 ? [this.stateBackups(backups)] : []),
      OWN_BACKUPS,
      ...(this.database.kind === 'sqlite' ? [] : [FREED_ROWS]),
      this.sessions.store.kind === 'redis' || this.sessions.store.kind === 'database' ? withSessionStore(IDS) : IDS,
    ];
  }

  private cached(): Remainder[] {
    const { kind, ttlSeconds } = this.cache;
    const ofTools = 'Results of tools with a cache expire after the lifetime that the tool declares.';
    const replies = `Replies expire within ${ttlSeconds} s (LLM_CACHE_TTL_SECONDS). ${ofTools}`;
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
    const { backup } = this.states;
    const action = backup
      ? `Deleted after ${backup.keptDays} days (TOOL_STATE_BACKUP_RETENTION_DAYS); or delete the files.`
      : 'Delete the files: TOOL_STATE_BACKUP is off, so nothing deletes them.';
    return { kind: 'backup', where: 'files tool-states-* in DATA_DIR/backups', action, count };
  }

  /** Number of backups of tool states; also those from before the backups were disabled. */
  private async backups(): Promise<number> {
    const names = await readdir(join(this.database.dataDir, 'backups')).catch(() => []);
    return names.filter((name) => name.startsWith('tool-states-')).length;
  }
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
