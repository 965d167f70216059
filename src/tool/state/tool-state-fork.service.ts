import { Injectable } from '@nestjs/common';
import type { Principal } from '../../common/index.js';
import { ToolRegistry } from '../tool.registry.js';
import type { Tool } from '../tool.types.js';
import { ContextDraft } from './context-draft.builder.js';
import { contextIdOf } from './context-id.factory.js';
import { joinCopies, type StateHome, type StatesCopy } from './homes/state-home.js';
import { asideIn } from './state-entry.mapper.js';
import { StateHomeRegistry } from './state-home.registry.js';
import type { ChangedState } from './stateful-call.executor.js';
import type { StateData } from './tool-state.types.js';

/** A run as its tools' states know it. */
export interface StatefulRun {
  readonly runId: string;
  readonly principal: Principal;
  readonly sessionId: string | null;
}

/** What a run has done that is forked. */
export interface ForkedPast {
  readonly run: StatefulRun;
  /** When it began, epoch ms. */
  readonly createdAt: number;
  /** States as calls before the fork have recorded them. */
  readonly recorded: readonly ChangedState[];
  /** The last state that an earlier run of the session has recorded of a tool. */
  readonly earlier: (tool: string) => Promise<ChangedState | undefined>;
}

type Past = Pick<ChangedState, 'version' | 'data'>;

/** Gives a forked run its own copy of the states of tools, as they were where it is forked. */
@Injectable()
export class ToolStateForks {
  constructor(
    private readonly homes: StateHomeRegistry,
    private readonly tools: ToolRegistry,
  ) {}

  /** For the batch that begins the new run, and what is done after it or when it was refused. */
  async copy(past: ForkedPast, to: StatefulRun): Promise<StatesCopy> {
    const copies: StatesCopy[] = [];
    for (const tool of this.tools.list()) if (tool.metadata.state) copies.push(...(await this.copyOf(tool, past, to)));
    return joinCopies(copies);
  }

  private async copyOf(tool: Tool, past: ForkedPast, to: StatefulRun): Promise<StatesCopy[]> {
    const options = tool.metadata.state!;
    const home = await this.homes.of(this.homes.nameOf(options));
    const from = contextIdOf(keyOf(tool, past.run));
    await home.catchUp(from);
    const business = await this.businessOf(tool, home, from, past);
    if (!business) return [];
    const isOfRun = to.sessionId === null || options.cleanupAfterRun === true;
    const draft = new ContextDraft(null, keyOf(tool, to), this.homes.policyOf(options), Date.now(), isOfRun);
    draft.put('business', business.data, { version: business.version });
    // What others have said there is said here, too.
    for (const user of [past.run.principal.id, ...(await usersOf(home, from))]) draft.remember(user);
    draft.put('connection', {});
    return [home.creating(draft.toWrite())];
  }

  private async businessOf(tool: Tool, { store }: StateHome, id: string, past: ForkedPast): Promise<Past | undefined> {
    const { name } = tool.definition;
    const recorded = past.recorded.filter(({ context_id }) => context_id === id);
    if (recorded.length > 0) return recorded.reduce((one, other) => (other.version > one.version ? other : one));
    // What was forgotten stays so.
    if (!(await store.load(id))) return undefined;
    const kept = await store.versions(id);
    const isOwn = (by: string | null) => by?.startsWith(`${past.run.runId}:`) === true;
    const firstOwn = kept.findLastIndex(({ by }) => isOwn(by));
    const before = firstOwn >= 0 ? kept[firstOwn + 1] : kept.find(({ at }) => at <= past.createdAt);
    if (before) return { version: before.version, data: JSON.parse(before.json) as StateData };
    // The versions do not go back so far, or there was none before.
    return past.earlier(name);
  }
}

function keyOf({ definition }: Tool, { principal, sessionId, runId }: StatefulRun) {
  return { tenant: principal.tenant, session: sessionId ?? `run:${runId}`, tool: definition.name };
}

async function usersOf({ store }: StateHome, contextId: string): Promise<readonly string[]> {
  const connection = (await store.load(contextId))?.states.connection;
  return connection ? asideIn(connection).users : [];
}
