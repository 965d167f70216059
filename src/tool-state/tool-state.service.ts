import { Injectable } from '@nestjs/common';
import { AppError } from '../errors/index.js';
import { fieldMistake, type Principal } from '../kernel/index.js';
import { AccessLogService, type AccessAction } from '../security/access-log/index.js';
import { ToolRegistry } from '../tool/index.js';
import type { StateData } from '../tool/stateful/index.js';
import { ContextOwners } from './context-owners.store.js';
import { toolWithState } from './stateful-tool-sessions.js';
import { ToolStateAdminService } from './tool-state-admin.service.js';
import type { SetStateOptions, StateUpdate } from './tool-state-manager.js';
import {
  STATE_TYPES,
  type ContextInfo,
  type StateEntry,
  type StateHistoryEntry,
  type StateType,
  type StateVersion,
} from './tool-state.types.js';
import { ToolStates } from './tool-states.js';

const PAGE = 100;

/** Types of states that code may change; Jackdaw maintains the connection state. */
export type WritableStateType = Exclude<StateType, 'connection'>;

const WRITABLE = STATE_TYPES.filter((type) => type !== 'connection');

export interface ListContextsOptions {
  /** Name of a tool. */
  readonly tool?: string;
  readonly sessionId?: string;
  /** Last id of the previous page. */
  readonly after?: string;
  /** Default 100. */
  readonly limit?: number;
}

/** Reads and changes the states of stateful tools for code, by the ownership rules of the REST routes. */
@Injectable()
export class ToolStateService {
  constructor(
    private readonly tools: ToolRegistry,
    private readonly states: ToolStates,
    private readonly admin: ToolStateAdminService,
    private readonly owners: ContextOwners,
    private readonly access: AccessLogService,
  ) {}

  /** The states that a principal may see: those in its own sessions, or in all of its tenant. */
  of(principal: Principal): OwnedStates {
    const { tools, states, admin, owners, access } = this;
    return new OwnedStates(principal, { tools, states, admin, owners, access });
  }
}

/** The services behind `OwnedStates`. */
interface StateServices {
  readonly tools: ToolRegistry;
  readonly states: ToolStates;
  readonly admin: ToolStateAdminService;
  readonly owners: ContextOwners;
  readonly access: AccessLogService;
}

/**
 * States of stateful tools that one principal may see; all others count as absent. Changes during a run follow the
 * tool's rule for conflicts. The access log has the entries of the REST routes.
 */
export class OwnedStates {
  constructor(
    private readonly principal: Principal,
    private readonly services: StateServices,
  ) {}

  /**
   * Id of the context of a stateful tool in a session; creates the context if it is absent.
   * @throws AppError `SESSION_NOT_FOUND`, `TOOL_NOT_FOUND`, `TOOL_STATE_NOT_FOUND` for a stateless tool, `TOOL_STATE_LIMIT`
   */
  async createContext(sessionId: string, tool: string): Promise<string> {
    const { tools, states, owners } = this.services;
    const { tenant } = this.principal;
    const stateful = toolWithState(tools, tool);
    if (!(await owners.isOwnSession(this.principal, sessionId))) throw sessionNotFound(sessionId);
    const manager = await states.caughtUp(stateful, states.contextIdOf(stateful, this.siteOf(sessionId)));
    return manager.createContext({ tenant, session: sessionId, tool });
  }

  /** `null` for an absent or expired state, and for an unknown context. */
  async getState(contextId: string, type: StateType): Promise<StateEntry | null> {
    assertType(type, STATE_TYPES);
    const found = await this.lookUp(contextId);
    return found && found.manager.getState(contextId, type);
  }

  /**
   * Replaces a state.
   * @returns the resulting state; with `first_write_wins` it may be another writer's
   * @throws AppError `TOOL_STATE_NOT_FOUND` for an unknown context, `TOOL_STATE_TOO_LARGE`, `TOOL_STATE_CONFLICT`; TypeError
   *   for data that JSON would lose
   */
  async setState(
    contextId: string,
    type: WritableStateType,
    data: StateData,
    options?: Pick<SetStateOptions, 'ttlMs' | 'basedOn'>,
  ): Promise<StateEntry> {
    assertType(type, WRITABLE);
    return (await this.find(contextId)).manager.setState(contextId, type, data, this.writer(options));
  }

  /** Merges keys into a state atomically: concurrent updates are not lost. @throws as `setState` */
  async updateState(
    contextId: string,
    type: WritableStateType,
    updates: StateUpdate,
    options?: Pick<SetStateOptions, 'ttlMs' | 'basedOn'>,
  ): Promise<StateEntry> {
    assertType(type, WRITABLE);
    return (await this.find(contextId)).manager.updateState(contextId, type, updates, this.writer(options));
  }

  /** Returns whether the state existed. */
  async deleteState(contextId: string, type: WritableStateType): Promise<boolean> {
    assertType(type, WRITABLE);
    const found = await this.services.admin.lookUp(this.principal, contextId);
    if (found) this.record('erase', contextId);
    return found !== null && found.manager.deleteState(contextId, type);
  }

  /**
   * Deletes a context with its states, versions and history. Returns whether it existed.
   * @throws AppError `SESSION_BUSY` during a run of the session
   */
  async cleanupContext(contextId: string): Promise<boolean> {
    try {
      await this.services.admin.remove(this.principal, contextId);
      this.record('erase', contextId);
      return true;
    } catch (error) {
      if (error instanceof AppError && error.code === 'TOOL_STATE_NOT_FOUND') return false;
      throw error;
    }
  }

  /** A page of the ids of contexts, in their order; it includes unreadable ones, of which `getContextInfo` throws the error. */
  async listContexts({ tool, sessionId, after, limit = PAGE }: ListContextsOptions = {}): Promise<string[]> {
    const filter = {
      ...(tool !== undefined && { tool }),
      ...(sessionId !== undefined && { session: sessionId }),
      ...(after !== undefined && { after }),
    };
    const found = await this.services.admin.list(this.principal, filter, limit);
    this.services.access.record(this.principal, 'read', 'tool-states', '');
    return found.map(({ id }) => id);
  }

  /** The context without the data of its states; `null` for an unknown one. */
  async getContextInfo(contextId: string): Promise<ContextInfo | null> {
    return (await this.lookUp(contextId))?.info ?? null;
  }

  /** Calls and rollbacks, newest first. @param before returns only entries before this `n` @throws AppError `TOOL_STATE_NOT_FOUND` */
  async getHistory(contextId: string, limit = PAGE, before?: number): Promise<StateHistoryEntry[]> {
    return (await this.find(contextId)).manager.getHistory(contextId, limit, before);
  }

  /** Stored versions of the business state, newest first. @throws AppError `TOOL_STATE_NOT_FOUND` */
  async getVersions(contextId: string): Promise<StateVersion[]> {
    return (await this.find(contextId)).manager.getVersions(contextId);
  }

  /**
   * Restores a version of the business state as a new version.
   * @throws AppError `TOOL_STATE_NOT_FOUND`, `SESSION_BUSY` during a run of the session
   */
  async rollback(contextId: string, version: number): Promise<StateEntry> {
    const state = await this.services.admin.rollback(this.principal, contextId, version);
    this.record('rollback', contextId);
    return state;
  }

  private async find(contextId: string) {
    const found = await this.services.admin.find(this.principal, contextId);
    this.record('read', contextId);
    return found;
  }

  private async lookUp(contextId: string) {
    const found = await this.services.admin.lookUp(this.principal, contextId);
    if (found) this.record('read', contextId);
    return found;
  }

  private record(action: AccessAction, contextId: string): void {
    this.services.access.record(this.principal, action, 'tool-state', contextId);
  }

  private siteOf(sessionId: string) {
    return { principal: this.principal, sessionId, runId: '' };
  }

  private writer(options: SetStateOptions = {}): SetStateOptions {
    const { id } = this.principal;
    return { ...options, by: id, user: id };
  }
}

function assertType(type: unknown, allowed: readonly string[]): void {
  if (allowed.includes(type as string)) return;
  const problem = `must be one of ${allowed.join(', ')}`;
  const reason = type === 'connection' ? '; Jackdaw maintains the connection state' : '';
  throw new AppError('VALIDATION_FAILED', `The type ${JSON.stringify(type)} of a state ${problem}${reason}.`, {
    details: { errors: [fieldMistake('type', problem, 'isIn', type)] },
  });
}

function sessionNotFound(id: string): AppError {
  return new AppError('SESSION_NOT_FOUND', `There is no session ${JSON.stringify(id)}: create it first.`, {
    details: { session_id: id },
  });
}
