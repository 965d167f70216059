import { Injectable } from '@nestjs/common';
import { messageOf } from '../errors/index.js';
import { parseExactJson } from '../kernel/json/index.js';
import { loadConfig } from '../config/index.js';
import { type DataFact, factsOfRun, mergeFacts } from '../run/facts/index.js';
import { KeyedQueue } from '../persistence/index.js';
import type { Tool } from '../tool/method/index.js';
import {
  type ChangedState,
  type ContextListener,
  type StateData,
  type StatefulCall,
  StatefulCalls,
  type StatefulOptions,
  type StateRun,
  type StateSite,
  type StoredState,
  toStateData,
} from '../tool/stateful/index.js';
import { RecordedCall } from './recorded-call.js';
import type { ContextDraft } from './context-draft.js';
import { contextIdOf } from './context-id.factory.js';
import { joinEnds, type StatesEnd } from './backend/state-backend.js';
import { StateBackendRegistry } from './state-backend.registry.js';
import type { StoredStateManager } from './stored-state-manager.js';
import type { ContextKey } from './tool-state.types.js';
import { PLAIN_CIPHER } from '../security/encryption/index.js';
import { ContextClosings } from './context-closings.js';

/** Maximum length of arguments stored in the history (UTF-16 units of JSON). */
const MAX_REMEMBERED = 1000;

/** Access to tool states for calls and runs. */
@Injectable()
export class ToolStates extends StatefulCalls {
  /** Serialises calls outside of runs, so that each one finds the changes of the previous one. */
  private readonly calls = new KeyedQueue();

  override readonly ownManagers: ReadonlySet<string>;

  constructor(private readonly backends: StateBackendRegistry) {
    super();
    this.ownManagers = backends.ownManagers;
  }

  /** For use without an application: states in memory, with default settings. */
  static inMemory(): ToolStates {
    const { toolState, database } = loadConfig({ env: {} }).config;
    const closings = new ContextClosings();
    return new ToolStates(new StateBackendRegistry(toolState, database, null, PLAIN_CIPHER, closings, new Map()));
  }

  override async open(tool: Tool, input: unknown, site: StateSite): Promise<StatefulCall> {
    const options = tool.metadata.state!;
    const key = keyOf(tool, site);
    const contextId = contextIdOf(key);
    const backend = await this.backends.of(this.backends.nameOf(options));
    await backend.catchUp(contextId);
    const policy = this.backends.policyOf(options);
    const origin = { key, isOfRun: isOfRun(options, site) };
    const manager = backend.manager(policy);
    const found = await manager.drafts(contextId, origin);
    site.learn?.(found().facts);
    const look = () => manager.open(contextId, origin);
    const call = {
      id: site.key,
      ...origin,
      user: site.principal.id,
      facts: factsOfRun(factsBefore(tool, site), site.runId),
      about: aboutCall(site, input),
      isStrangers: tool.metadata.isReturnForeign === true,
    };
    const start = { initial: initialOf(options), isSavedAlone: this.backends.isSavedAlone(options) };
    return new RecordedCall(backend, policy, { found, look }, call, start);
  }

  override async replayed(tool: Tool, site: StateSite, { version, data }: ChangedState): Promise<void> {
    if (version === undefined || !data) return;
    const options = tool.metadata.state!;
    const backend = await this.backends.of(this.backends.nameOf(options));
    if (!backend.isVolatile) return;
    const key = keyOf(tool, site);
    const contextId = contextIdOf(key);
    const manager = backend.manager(this.backends.policyOf(options));
    if (((await manager.getState(contextId, 'business'))?.version ?? 0) >= version) return;
    const bringBack = (draft: ContextDraft) => {
      draft.remember(site.principal.id);
      draft.put('business', data, { by: site.key, version });
      draft.put('connection', draft.get('connection')?.data ?? {});
    };
    await manager.edit(contextId, bringBack, { key, isOfRun: isOfRun(options, site) });
  }

  override async callAlone(
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
      await store(await held.record({ kind: 'success', detail: elapsed() }));
      return result;
    } catch (error) {
      const outcome = { kind: 'error', error: messageOf(error), detail: elapsed() } as const;
      await store(await held.record(outcome).catch(() => held.recordFailed(outcome)));
      throw error;
    } finally {
      if (site.sessionId === null) await (await this.managerOf(tool)).cleanupContext(held.handle.contextId);
    }
  }

  override async cleanup(tool: Tool, run: StateRun): Promise<boolean> {
    return (await this.managerOf(tool)).cleanupContext(this.contextIdOf(tool, run));
  }

  contextIdOf(tool: Tool, site: StateRun): string {
    return contextIdOf(keyOf(tool, site));
  }

  /** Applies a context's pending changes and returns the manager of the tool. */
  async caughtUp(tool: Tool, contextId: string): Promise<StoredStateManager> {
    await (await this.backends.of(this.backends.nameOf(tool.metadata.state!))).catchUp(contextId);
    return this.managerOf(tool);
  }

  override onClosed(listener: ContextListener): () => void {
    return this.backends.closings.onClosed(listener);
  }

  /** State manager of a tool. */
  async managerOf(tool: Tool): Promise<StoredStateManager> {
    const options = tool.metadata.state ?? {};
    return (await this.backends.of(this.backends.nameOf(options))).manager(this.backends.policyOf(options));
  }

  /**
   * Deletion of a run's run-scoped states, for the batch that ends the run.
   * @param tools tools that the run has called
   */
  async ending(run: StateRun, tools: Iterable<Tool>): Promise<StatesEnd> {
    const ends: StatesEnd[] = [];
    for (const tool of tools) {
      const { state } = tool.metadata;
      if (!isOfRun(state, run)) continue;
      const backend = await this.backends.of(this.backends.nameOf(state));
      ends.push(backend.forgetting(run.principal.tenant, [contextIdOf(keyOf(tool, run))]));
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

/** The facts of the run, and those of the tool's own data, which the call may store. */
function factsBefore({ definition: { name: tool }, metadata }: Tool, { facts = [] }: StateSite): readonly DataFact[] {
  return metadata.untrusted ? mergeFacts(facts, [{ fact: 'untrusted', step: 'state', tool }]) : facts;
}

/** Session part of the context key; `run:` and the run id without a session. */
function sessionOf({ sessionId, runId }: Pick<StateSite, 'sessionId' | 'runId'>): string {
  return sessionId ?? `run:${runId}`;
}

function keyOf({ definition }: Tool, site: StateRun): ContextKey {
  return { tenant: site.principal.tenant, session: sessionOf(site), tool: definition.name };
}

function initialOf({ initial = {} }: StatefulOptions): StateData {
  return toStateData(typeof initial === 'function' ? initial() : initial);
}

function aboutCall({ runId, callId }: StateSite, input: unknown): StateData {
  const shown = JSON.stringify(input);
  return {
    run_id: runId,
    call_id: callId,
    ...(shown !== undefined && shown.length <= MAX_REMEMBERED && { arguments: parseExactJson(shown) as StateData }),
  };
}
