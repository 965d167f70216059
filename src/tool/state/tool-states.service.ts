import { Injectable } from '@nestjs/common';
import { messageOf, parseExactJson } from '../../common/index.js';
import { loadConfig } from '../../config/index.js';
import type { CallSite, Tool } from '../tool.types.js';
import type { ContextListener } from './context-closing.registry.js';
import type { ContextDraft } from './context-draft.builder.js';
import { ContextQueue } from './context-queue.policy.js';
import { contextIdOf } from './context-id.factory.js';
import { StatefulCall, type ChangedState, type StoredState } from './stateful-call.executor.js';
import { joinEnds, type StatesEnd } from './backend/state-backend.js';
import { StateBackendRegistry } from './state-backend.registry.js';
import { toData } from './state-data.mapper.js';
import type { StatefulOptions } from './stateful-options.types.js';
import type { StoredStateManager } from './stored-state-manager.js';
import type { ContextKey, StateData } from './tool-state.types.js';

/** The fields of a call that its state needs. */
export type StateSite = Pick<CallSite, 'principal' | 'sessionId' | 'runId' | 'callId' | 'key'>;

type RunSite = Pick<StateSite, 'principal' | 'sessionId' | 'runId'>;

/** Maximum length of arguments stored in the history (UTF-16 units of JSON). */
const MAX_REMEMBERED = 1000;

/** Access to tool states for calls and runs. */
@Injectable()
export class ToolStates {
  /** Serialises calls outside of runs, so that each one finds the changes of the previous one. */
  private readonly calls = new ContextQueue();

  constructor(private readonly homes: StateBackendRegistry) {}

  /** For use without an application: states in memory, with default settings. */
  static inMemory(): ToolStates {
    return new ToolStates(new StateBackendRegistry(loadConfig({ env: {} }).config));
  }

  /**
   * Opens a tool's state for one call.
   * @param input `undefined` if unknown, as in a reconciliation
   * @throws AppError `TOOL_STATE_LIMIT`, `TOOL_STATE_UNAVAILABLE`, and errors of the tool's `initial`
   */
  async open(tool: Tool, input: unknown, site: StateSite): Promise<StatefulCall> {
    const options = tool.metadata.state!;
    const key = keyOf(tool, site);
    const contextId = contextIdOf(key);
    const home = await this.homes.of(this.homes.nameOf(options));
    await home.catchUp(contextId);
    const policy = this.homes.policyOf(options);
    const origin = { key, isOfRun: isOfRun(options, site) };
    const manager = home.manager(policy);
    const found = await manager.drafts(contextId, origin);
    const look = () => manager.open(contextId, origin);
    const call = {
      id: site.key,
      ...origin,
      user: site.principal.id,
      about: aboutCall(site, input),
      isStrangers: tool.metadata.isReturnForeign === true,
    };
    const start = { initial: initialOf(options), isSavedAlone: this.homes.isSavedAlone(options) };
    return new StatefulCall(home, policy, { found, look }, call, start);
  }

  /** Reapplies the business-state change of a recorded call, if the backend is volatile and does not have it. */
  async replayed(tool: Tool, site: StateSite, { version, data }: ChangedState): Promise<void> {
    if (version === undefined || !data) return;
    const options = tool.metadata.state!;
    const home = await this.homes.of(this.homes.nameOf(options));
    if (!home.isVolatile) return;
    const key = keyOf(tool, site);
    const contextId = contextIdOf(key);
    const manager = home.manager(this.homes.policyOf(options));
    if (((await manager.getState(contextId, 'business'))?.version ?? 0) >= version) return;
    const bringBack = (draft: ContextDraft) => {
      draft.remember(site.principal.id);
      draft.put('business', data, { by: site.key, version });
      draft.put('connection', draft.get('connection')?.data ?? {});
    };
    await manager.edit(contextId, bringBack, { key, isOfRun: isOfRun(options, site) });
  }

  /**
   * Executes a call outside of a run, after active calls of the same context. Its state change is stored with the
   * outcome. Without a session the state ends with the call.
   * @throws AppError as `open`, `TOOL_STATE_TOO_LARGE`, `TOOL_STATE_CONFLICT`, and errors of the call
   */
  async callAlone(
    tool: Tool,
    input: unknown,
    site: StateSite,
    make: (held: StatefulCall) => Promise<unknown>,
  ): Promise<unknown> {
    return this.calls.next(contextIdOf(keyOf(tool, site)), () => this.callNext(tool, input, site, make));
  }

  private async callNext(
    tool: Tool,
    input: unknown,
    site: StateSite,
    make: (held: StatefulCall) => Promise<unknown>,
  ): Promise<unknown> {
    const held = await this.open(tool, input, site);
    const started = performance.now();
    const elapsed = () => ({ elapsed_ms: Math.round(performance.now() - started) });
    // Without a session, do not store: a crash before the cleanup would leave an unreachable context.
    const store = async ({ companion }: StoredState) => (site.sessionId === null ? undefined : companion.alone());
    try {
      const result = held.withoutState(await make(held));
      await store(await held.keep({ kind: 'success', detail: elapsed() }));
      return result;
    } catch (error) {
      const outcome = { kind: 'error', error: messageOf(error), detail: elapsed() } as const;
      await store(await held.keep(outcome).catch(() => held.refuse(outcome)));
      throw error;
    } finally {
      if (site.sessionId === null) await (await this.managerOf(tool)).cleanupContext(held.handle.contextId);
    }
  }

  contextIdOf(tool: Tool, site: RunSite): string {
    return contextIdOf(keyOf(tool, site));
  }

  /** Applies a context's pending changes and returns the manager of the tool. */
  async caughtUp(tool: Tool, contextId: string): Promise<StoredStateManager> {
    await (await this.homes.of(this.homes.nameOf(tool.metadata.state!))).catchUp(contextId);
    return this.managerOf(tool);
  }

  /** Registers a listener for closed contexts; returns a function that removes it. */
  onClosed(listener: ContextListener): () => void {
    return this.homes.closings.onClosed(listener);
  }

  /** State manager of a tool. */
  async managerOf(tool: Tool): Promise<StoredStateManager> {
    const options = tool.metadata.state ?? {};
    return (await this.homes.of(this.homes.nameOf(options))).manager(this.homes.policyOf(options));
  }

  /**
   * Deletion of a run's run-scoped states, for the batch that ends the run.
   * @param tools tools that the run has called
   */
  async ending(run: RunSite, tools: Iterable<Tool>): Promise<StatesEnd> {
    const ends: StatesEnd[] = [];
    for (const tool of tools) {
      const { state } = tool.metadata;
      if (!isOfRun(state, run)) continue;
      const home = await this.homes.of(this.homes.nameOf(state));
      ends.push(home.forgetting(run.principal.tenant, [contextIdOf(keyOf(tool, run))]));
    }
    return joinEnds(ends);
  }
}

/** Whether a state is run-scoped. Without a session it would be unreachable after the run. */
function isOfRun(
  options: StatefulOptions | undefined,
  { sessionId }: Pick<StateSite, 'sessionId'>,
): options is StatefulOptions {
  return options !== undefined && (sessionId === null || options.cleanupAfterRun === true);
}

/** Session part of the context key; `run:` and the run id without a session. */
function sessionOf({ sessionId, runId }: Pick<StateSite, 'sessionId' | 'runId'>): string {
  return sessionId ?? `run:${runId}`;
}

function keyOf({ definition }: Tool, site: RunSite): ContextKey {
  return { tenant: site.principal.tenant, session: sessionOf(site), tool: definition.name };
}

function initialOf({ initial = {} }: StatefulOptions): StateData {
  return toData(typeof initial === 'function' ? initial() : initial);
}

function aboutCall({ runId, callId }: StateSite, input: unknown): StateData {
  const told = JSON.stringify(input);
  return {
    run_id: runId,
    call_id: callId,
    ...(told !== undefined && told.length <= MAX_REMEMBERED && { arguments: parseExactJson(told) as StateData }),
  };
}
