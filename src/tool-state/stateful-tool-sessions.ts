import { Injectable } from '@nestjs/common';
import { AppError } from '../errors/index.js';
import { fieldMistake, ID_RULE, isId, type Principal } from '../kernel/index.js';
import { type CallSite, ToolRegistry } from '../tool/index.js';
import { createCallSite } from '../tool/call/index.js';
import type { Tool } from '../tool/method/index.js';
import { ContextOwners } from './context-owners.store.js';
import { contextNotFound } from './tool-state.error.js';
import type { StoredStateManager } from './stored-state-manager.js';
import type { StateEntry, StateHistoryEntry, StateType } from './tool-state.types.js';
import { ToolStates } from './tool-states.js';

const PAGE = 100;

export interface StatefulToolSessionOptions {
  /** Caller; default: `local` of the tenant `default`. */
  readonly principal?: Principal;
}

/** A stateful tool bound to a session, for code without an agent. */
export interface StatefulToolSession {
  readonly tool: string;
  readonly sessionId: string;
  readonly contextId: string;
  /**
   * Calls the tool with the session's state, as `ToolRegistry.call`: the caller is responsible for the call.
   * @throws AppError as `ToolRegistry.call`, `TOOL_STATE_NOT_FOUND` in a session that the principal may not see,
   * `TOOL_STATE_TOO_LARGE`, `TOOL_STATE_CONFLICT`, `TOOL_STATE_LIMIT`,
   * `TOOL_STATE_UNAVAILABLE`
   */
  execute(args?: Readonly<Record<string, unknown>>): Promise<unknown>;
  /** A stored state, by default the business state; `null` if absent. */
  state(type?: StateType): Promise<StateEntry | null>;
  /** History, newest first. @param limit default 100 entries; a call has two */
  history(limit?: number): Promise<StateHistoryEntry[]>;
  /** Deletes the context; the next call starts with an initial state. Returns whether the context existed. */
  cleanup(): Promise<boolean>;
}

/** Binds stateful tools to sessions. */
@Injectable()
export class StatefulToolSessions {
  constructor(
    private readonly tools: ToolRegistry,
    private readonly states: ToolStates,
    private readonly owners: ContextOwners,
  ) {}

  /**
   * Binds a tool to a session. The same tool and session always share one state, also with an agent's calls in that
   * session.
   * @param sessionId valid as an agent's session id; an agent's session with this id need not exist
   * @throws AppError `TOOL_NOT_FOUND`, `TOOL_STATE_NOT_FOUND` for a stateless tool, `VALIDATION_FAILED`
   */
  create(name: string, sessionId: string, { principal }: StatefulToolSessionOptions = {}): StatefulToolSession {
    const tool = toolWithState(this.tools, name);
    if (!isId(sessionId)) throw wrongSession(sessionId);
    const given: Partial<CallSite> = { sessionId, ...(principal && { principal }) };
    const { states, tools } = this;
    const contextId = states.contextIdOf(tool, createCallSite(given));
    const admit = async (): Promise<void> => {
      if (principal && (await this.owners.isOfOther(principal, sessionId))) throw contextNotFound(contextId);
    };
    const manager = async (): Promise<StoredStateManager> => {
      await admit();
      return states.caughtUp(tool, contextId);
    };
    return {
      tool: name,
      sessionId,
      contextId,
      execute: async (args) => {
        await admit();
        return tools.call(name, args, given);
      },
      state: async (type = 'business') => (await manager()).getState(contextId, type),
      history: async (limit = PAGE) => (await manager()).getHistory(contextId, limit),
      cleanup: async () => (await manager()).cleanupContext(contextId),
    };
  }
}

/** @throws AppError `TOOL_NOT_FOUND`, `TOOL_STATE_NOT_FOUND` for a stateless tool */
export function toolWithState(tools: ToolRegistry, name: string): Tool {
  const tool = tools.get(name);
  if (!tool.metadata.state) throw keepsNone(name);
  return tool;
}

function keepsNone(tool: string): AppError {
  return new AppError(
    'TOOL_STATE_NOT_FOUND',
    `Tool "${tool}" keeps no state: call it by ToolRegistry.call, or declare it with \`stateful\`.`,
    { details: { tool } },
  );
}

function wrongSession(id: unknown): AppError {
  const message = `must be ${ID_RULE}`;
  return new AppError('VALIDATION_FAILED', `The session id ${JSON.stringify(id)} ${message}.`, {
    details: { errors: [fieldMistake('sessionId', message, 'isSessionId', id)] },
  });
}
