import { Injectable } from '@nestjs/common';
import { AppError, Log, messageOf } from '../errors/index.js';
import { type Principal } from '../kernel/index.js';
import { Database } from '../persistence/index.js';
import type { RunRecord } from '../run/index.js';
import { ToolRegistry } from '../tool/index.js';
import type { StatefulOptions } from '../tool/stateful/index.js';
import { contextIdOf } from './context-id.factory.js';
import { ContextOwners } from './context-owners.store.js';
import { joinEnds, type StateBackend, type StatesEnd } from './backend/state-backend.js';
import { asideIn } from './state-entry.mapper.js';
import { StateBackendRegistry } from './state-backend.registry.js';
import type { StoredStateManager } from './stored-state-manager.js';
import { contextNotFound, isDamage } from './tool-state.error.js';
import { ToolStateMaintenanceService, UsedBackendService } from './tool-state-maintenance.service.js';
import {
  STATE_TYPES,
  type ContextFilter,
  type ContextInfo,
  type ContextKey,
  type StateEntry,
  type StateHistoryEntry,
  type StateVersion,
} from './tool-state.types.js';

/** Exceeds the history size of every context. */
const WHOLE_HISTORY = 10_000_000;

/** A context with the data of its states. */
export interface ShownContext extends Omit<ContextInfo, 'states'> {
  readonly states: readonly StateEntry[];
}

/** A context and the state manager of its tool. */
interface FoundContext {
  readonly manager: StoredStateManager;
  readonly info: ContextInfo;
}

/** An unreadable context. */
export interface DamagedContext {
  readonly id: string;
  readonly manager: string;
  /** Cause and remedy. */
  readonly error: AppError;
}

export type StateFilter = Pick<ContextFilter, 'tool' | 'session' | 'after'>;

type EndingRun = Pick<RunRecord, 'id' | 'tenant' | 'sessionId'>;

/** Administration of tool states, for all state managers. Contexts that the caller may not see are reported as not found. */
@Injectable()
export class ToolStateAdminService {
  private readonly logger = new Log('ToolState');

  constructor(
    private readonly backends: StateBackendRegistry,
    private readonly tools: ToolRegistry,
    private readonly database: Database,
    private readonly maintenance: ToolStateMaintenanceService,
    private readonly used: UsedBackendService,
    private readonly owners: ContextOwners,
  ) {}

  /**
   * Up to `limit` contexts that the principal may see, ordered by id.
   * @throws AppError `TOOL_STATE_UNAVAILABLE` if a store is unavailable
   */
  async list(principal: Principal, filter: StateFilter, limit: number): Promise<(ContextInfo | DamagedContext)[]> {
    const { tenant } = principal;
    const sessions = await this.owners.sessionsOf(principal);
    const within = sessions && { sessions };
    await this.maintenance.carryReadable(tenant);
    const found: (ContextInfo | DamagedContext)[] = [];
    for (const backend of await this.used.open()) {
      const ids = await backend.store.list({ ...filter, ...within, tenant, limit });
      const manager = this.managerOf(backend);
      const infos = await Promise.all(ids.map((id) => infoOf(manager, id)));
      found.push(...infos.filter((info) => info !== null));
    }
    return found.toSorted((one, other) => (one.id < other.id ? -1 : 1)).slice(0, limit);
  }

  /** @throws AppError `TOOL_STATE_NOT_FOUND` */
  async get(principal: Principal, id: string): Promise<ShownContext> {
    const { info, manager } = await this.find(principal, id);
    const states = await Promise.all(STATE_TYPES.map((type) => manager.getState(id, type)));
    return { ...info, states: states.filter((state) => state !== null) };
  }

  /** A context and the manager of its tool. @throws AppError `TOOL_STATE_NOT_FOUND` */
  async find(principal: Principal, id: string): Promise<FoundContext> {
    const found = await this.lookUp(principal, id);
    if (found) return found;
    throw contextNotFound(id);
  }

  /** As `find`; `null` for an unknown context, and for one that the principal may not see. */
  async lookUp(principal: Principal, id: string): Promise<FoundContext | null> {
    const own = await this.own(principal, id);
    if (own && 'error' in own.key) throw own.key.error;
    return own && { manager: this.managerOf(own.backend, own.key.tool), info: own.key as ContextInfo };
  }

  /** History, newest first. @throws AppError `TOOL_STATE_NOT_FOUND` */
  async history(principal: Principal, id: string, limit: number, before?: number): Promise<StateHistoryEntry[]> {
    const { manager } = await this.find(principal, id);
    return manager.getHistory(id, limit, before);
  }

  /** Stored versions of the business state, newest first. @throws AppError `TOOL_STATE_NOT_FOUND` */
  async versions(principal: Principal, id: string): Promise<StateVersion[]> {
    const { manager } = await this.find(principal, id);
    return manager.getVersions(id);
  }

  /** @throws AppError `TOOL_STATE_NOT_FOUND`, `SESSION_BUSY` during a run of the session */
  async rollback(principal: Principal, id: string, version: number): Promise<StateEntry> {
    const { manager, info } = await this.find(principal, id);
    await this.assertFree(info);
    return manager.rollback(id, version, principal.id);
  }

  /** Deletes a context, also an unreadable one. @throws AppError as `rollback` */
  async remove(principal: Principal, id: string): Promise<void> {
    const own = await this.own(principal, id);
    if (!own) throw contextNotFound(id);
    const { backend, key } = own;
    await this.assertFree(key);
    await this.carryOut(backend.forgetting(key.tenant, [id]));
  }

  /** Deletion of the tool states of a session, for the batch that deletes the session. */
  async forgetting(tenant: string, session: string): Promise<StatesEnd> {
    const ends = (await this.used.open()).map(async (backend) => {
      const stored = await backend.store.list({ tenant, session });
      return backend.forgetting(tenant, [...new Set([...stored, ...this.possible(backend, tenant, session)])]);
    });
    return joinEnds(await Promise.all(ends));
  }

  /**
   * Deletion of run-scoped states, for the batch that ends the run. It covers all tools, since a resumed or failed
   * execution does not know all calls of the run. Read errors are logged and do not delay the end.
   */
  async ending(run: EndingRun): Promise<StatesEnd> {
    const ends = [...this.used.names()].map(async (name) => {
      try {
        return [await this.endingIn(await this.backends.of(name), run)];
      } catch (error) {
        this.warnIncomplete(name, run, error);
        return [];
      }
    });
    return joinEnds((await Promise.all(ends)).flat());
  }

  /**
   * Deletes all contexts that contain data of a user, in any session: the data of one user cannot be separated from a
   * state.
   * @param userId principal id
   * @param runIds the user's runs: contexts last written by earlier versions list no users
   * @returns number of deleted contexts
   * @throws AppError `TOOL_STATE_UNAVAILABLE` if pending changes cannot be applied first
   */
  async eraseUser(tenant: string, userId: string, runIds: readonly string[]): Promise<number> {
    const gone = new Set(runIds);
    let erased = 0;
    await this.used.open();
    await this.maintenance.carryOver(tenant);
    // Includes backends that no tool uses any more: they may have pending changes.
    for (const backend of await this.used.all()) {
      for await (const id of backend.contextsOf(tenant)) {
        await backend.catchUp(id);
        if (!(await hasPart(backend, id, userId)) && !(await isTouched(backend, id, gone))) continue;
        await this.carryOut(backend.forgetting(tenant, [id]));
        erased++;
      }
    }
    return erased;
  }

  /** Purges deleted data from files outside of the journal's database. */
  async purge(): Promise<void> {
    for (const backend of await this.used.all()) await backend.purge();
  }

  private async endingIn(backend: StateBackend, run: EndingRun): Promise<StatesEnd> {
    const { id, tenant, sessionId } = run;
    const session = sessionId ?? `run:${id}`;
    const goes = ({ cleanupAfterRun }: StatefulOptions) => sessionId === null || cleanupAfterRun === true;
    const possible = this.possible(backend, tenant, session, goes);
    // Includes contexts of tools that are no longer registered.
    const made = await madeByRuns(backend, tenant, session).catch((error: unknown) => {
      this.warnIncomplete(backend.name, run, error);
      return [];
    });
    return backend.forgetting(tenant, [...new Set([...made, ...possible])]);
  }

  private warnIncomplete(manager: string, { id }: EndingRun, error: unknown): void {
    this.logger.warn(`Failed to find all states of run ${id} in ${manager} at its end: ${messageOf(error)}`);
  }

  /** Ids of contexts that pending changes may create. @param isMeant filter on the tool's options */
  private possible(
    backend: StateBackend,
    tenant: string,
    session: string,
    isMeant: (options: StatefulOptions) => boolean = () => true,
  ): string[] {
    return this.tools.list().flatMap(({ metadata: { state }, definition: { name: tool } }) => {
      const isHere = state !== undefined && this.backends.nameOf(state) === backend.name && isMeant(state);
      return isHere ? [contextIdOf({ tenant, session, tool })] : [];
    });
  }

  /** Others must not learn that a context is unreadable. */
  private async own(principal: Principal, id: string) {
    for (const backend of await this.used.open()) {
      const key = await this.keyIn(backend, id);
      if (key && (await this.owners.isVisible(principal, key))) return { backend, key };
    }
    return null;
  }

  private async keyIn(
    backend: StateBackend,
    id: string,
  ): Promise<ContextInfo | (ContextKey & { error: AppError }) | null> {
    try {
      await backend.catchUp(id);
      return await this.managerOf(backend).getContextInfo(id);
    } catch (error) {
      if (!isDamage(error)) throw error;
      const key = await backend.store.keyOf(id);
      return key && { ...key, error };
    }
  }

  /** @param tool tool whose limits apply to writes, if it is registered */
  private managerOf(backend: StateBackend, tool = ''): StoredStateManager {
    const own = this.tools.has(tool) ? this.tools.get(tool).metadata.state : undefined;
    return backend.manager(this.backends.policyOf({ ...own, manager: backend.name }));
  }

  private async carryOut({ statements, ended }: StatesEnd): Promise<void> {
    if (statements.length > 0) await this.database.commit(statements);
    await ended();
  }

  private async assertFree({ tenant, session }: ContextKey): Promise<void> {
    const [held] = await this.database.query(
      'SELECT id FROM run WHERE tenant = ? AND (session_id = ? OR id = ?) AND finished_at IS NULL LIMIT 1',
      [tenant, session, session.replace(/^run:/, '')],
    );
    if (!held) return;
    throw new AppError('SESSION_BUSY', `A run of "${session}" has not ended: wait for it, or cancel it.`, {
      isRetryable: true,
    });
  }
}

/** A damaged context does not hide the others. */
async function infoOf(manager: StoredStateManager, id: string): Promise<ContextInfo | DamagedContext | null> {
  try {
    return await manager.getContextInfo(id);
  } catch (error) {
    if (isDamage(error)) return { id, manager: manager.name, error };
    throw error;
  }
}

/** The run-scoped contexts of a session. */
async function madeByRuns({ store }: StateBackend, tenant: string, session: string): Promise<string[]> {
  const ids = await store.list({ tenant, session });
  const contexts = await Promise.all(ids.map((id) => store.load(id)));
  return contexts.flatMap((context) => (context?.isOfRun ? [context.id] : []));
}

async function hasPart({ store }: StateBackend, id: string, user: string): Promise<boolean> {
  const connection = (await store.load(id))?.states.connection;
  return connection !== undefined && asideIn(connection).users.includes(user);
}

async function isTouched({ store }: StateBackend, id: string, runs: ReadonlySet<string>): Promise<boolean> {
  const made = [...(await store.versions(id)), ...(await store.history(id, WHOLE_HISTORY))];
  return made.some(({ by }) => by !== null && runs.has(by.split(':')[0]!));
}
