import { Injectable } from '@nestjs/common';
import type { Principal } from '../kernel/index.js';
import { parseExactJson } from '../kernel/json/index.js';
import { ToolRegistry } from '../tool/index.js';
import type { Tool } from '../tool/method/index.js';
import type { ChangedState, RecordedState, StateData } from '../tool/stateful/index.js';
import type { DataFact } from '../run/facts/index.js';
import { ContextDraft, isLive } from './context-draft.js';
import { contextIdOf } from './context-id.factory.js';
import { joinCopies, type StatesCopy } from './backend/state-backend.js';
import { asideIn } from './state-entry.mapper.js';
import { StateBackendRegistry } from './state-backend.registry.js';
import type { StateStore, StoredContext, StoredState } from './backend/state-store.js';

/** The fields of a run that determine its contexts. */
export interface StatefulRun {
  readonly runId: string;
  readonly principal: Principal;
  readonly sessionId: string | null;
}

/** The past of a forked run. */
export interface ForkedPast {
  readonly run: StatefulRun;
  /** Start of the run, epoch ms. */
  readonly createdAt: number;
  /** State changes recorded by calls before the fork, in call order. */
  readonly recorded: readonly ChangedState[];
  /** Recorded changes of one tool by earlier runs of the session, newest first. */
  readonly earlier: (tool: string) => Promise<readonly ChangedState[]>;
}

/** Copies the tool states of a run, as of the fork point, to the forked run. */
@Injectable()
export class ToolStateForks {
  constructor(
    private readonly backends: StateBackendRegistry,
    private readonly tools: ToolRegistry,
  ) {}

  /** The statements belong to the batch that starts the new run. */
  async copy(past: ForkedPast, to: StatefulRun): Promise<StatesCopy> {
    const copies: StatesCopy[] = [];
    for (const tool of this.tools.list()) if (tool.metadata.state) copies.push(...(await this.copyOf(tool, past, to)));
    return joinCopies(copies);
  }

  private async copyOf(tool: Tool, past: ForkedPast, to: StatefulRun): Promise<StatesCopy[]> {
    const options = tool.metadata.state!;
    const backend = await this.backends.of(this.backends.nameOf(options));
    const from = contextIdOf(keyOf(tool, past.run));
    await backend.catchUp(from);
    const stored = await liveContext(backend.store, from);
    // Do not recreate a deleted state without a recorded change.
    const changes = past.recorded.filter(({ context_id }) => context_id === from);
    if (!stored && changes.length === 0) return [];
    const place = { tool: tool.definition.name, store: backend.store, stored, changes };
    const [business, session] = [await businessOf(place, past), await sessionOf(place, past)];
    if (!business && !session) return [];
    const isOfRun = to.sessionId === null || options.cleanupAfterRun === true;
    const draft = new ContextDraft(null, keyOf(tool, to), this.backends.policyOf(options), Date.now(), isOfRun);
    if (business) draft.put('business', business.data, { version: business.version });
    if (session) draft.put('session', session.data, { version: session.version, ttlMs: session.ttlMs });
    // The copy contains data of the same users.
    for (const user of [past.run.principal.id, ...usersOf(stored)]) draft.remember(user);
    if (stored) draft.addFacts(factsIn(stored));
    draft.put('connection', {});
    return [backend.creating(draft.toWrite())];
  }
}

/** Context of a tool: its stored form and the changes recorded by the run's calls. */
interface ForkedContext {
  readonly tool: string;
  readonly store: StateStore;
  readonly stored: StoredContext | null;
  readonly changes: readonly ChangedState[];
}

/** Copying must not revive an expired state. */
async function liveContext(store: StateStore, id: string): Promise<StoredContext | null> {
  const stored = await store.load(id);
  return stored && isLive(stored, Date.now()) ? stored : null;
}

async function businessOf(
  { tool, store, stored, changes }: ForkedContext,
  past: ForkedPast,
): Promise<RecordedState | null> {
  const recorded = changes.flatMap(businessIn);
  if (recorded.length > 0) return recorded.reduce((one, other) => (other.version > one.version ? other : one));
  if (!stored || (stored.states.business && !isLive(stored.states.business, Date.now()))) return null;
  const versions = await store.versions(stored.id);
  const isOwn = (by: string | null) => by?.startsWith(`${past.run.runId}:`) === true;
  const firstOwn = versions.findLastIndex(({ by }) => isOwn(by));
  const before = firstOwn >= 0 ? versions[firstOwn + 1] : versions.find(({ at }) => at <= past.createdAt);
  if (before) return { version: before.version, data: parseExactJson(before.json) as StateData };
  // No stored version is old enough.
  return (await past.earlier(tool)).flatMap(businessIn)[0] ?? null;
}

/**
 * Session states have no versions: without a recorded change the state is known only if it is unchanged since the run's
 * start.
 */
async function sessionOf({ tool, stored, changes }: ForkedContext, past: ForkedPast): Promise<LivingState | null> {
  const recorded = changes.findLast(hasSession);
  if (recorded) return recordedIn(recorded);
  const now = stored?.states.session;
  if (now && now.updatedAt <= past.createdAt) return living(parseExactJson(now.json) as StateData, now);
  const earlier = (await past.earlier(tool)).find(hasSession);
  return earlier ? recordedIn(earlier) : null;
}

function hasSession({ session }: ChangedState): boolean {
  return session !== undefined;
}

function recordedIn({ session }: ChangedState): LivingState | null {
  return session ? living(session.data, { version: session.version, expiresAt: session.expires_at }) : null;
}

function living(
  data: StateData,
  { version, expiresAt }: Pick<StoredState, 'version' | 'expiresAt'>,
): LivingState | null {
  if (expiresAt === null) return { version, data };
  const ttlMs = expiresAt - Date.now();
  return ttlMs > 0 ? { version, data, ttlMs } : null;
}

interface LivingState extends RecordedState {
  /** Remaining time to live, in ms; by default the tool's setting. */
  readonly ttlMs?: number | undefined;
}

function businessIn({ version, data }: ChangedState): RecordedState[] {
  return version === undefined || !data ? [] : [{ version, data }];
}

function keyOf({ definition }: Tool, { principal, sessionId, runId }: StatefulRun) {
  return { tenant: principal.tenant, session: sessionId ?? `run:${runId}`, tool: definition.name };
}

/** Including those of calls after the fork point. */
function factsIn({ states: { connection } }: StoredContext): readonly DataFact[] {
  return connection ? asideIn(connection).facts : [];
}

function usersOf(stored: StoredContext | null): readonly string[] {
  const connection = stored?.states.connection;
  return connection ? asideIn(connection).users : [];
}
