import { Inject, Injectable, Optional } from '@nestjs/common';
import { AppError } from '../../errors/index.js';
import type { DataFact } from '../../run/facts/index.js';
import { factsOfSession } from '../session-facts.mapper.js';
import { SessionStore } from '../session-store.js';
import type { SessionKey, StoredTurn } from '../session.types.js';
import { type TurnQuery, TurnStore } from '../turns/turn-store.js';
import {
  FixedWindowPolicy,
  LruPolicy,
  SlidingWindowPolicy,
  SummaryPolicy,
  TokenBudgetPolicy,
} from './memory-policies.js';
import type { MemoryPolicy } from './memory-policy.js';
import type { MemoryPlace, MemoryRules, MemoryTools, Recollection, Summary } from './memory.types.js';
import { OwnMemoryService } from './own-memory.service.js';
import { OWN_MEMORIES, type OwnMemories, type OwnMemory } from './memory.js';
import { expandRanges, recollectPlace, type SeenMessages, summaryMessage, toRanges } from './recollection.mapper.js';
import { SummaryExtension } from './summary-extension.js';
import { SummaryStore } from './summary.store.js';
import { type TextCut, withCut } from './turn-cut.mapper.js';
import { NOTHING_RESERVED, type Reserved, type Selection, TurnSelection } from './turn-selection.js';
import { cutToTokens } from './turn-shortening.policy.js';

/** The memory policies that agents may name, and the memories of the application, which share their names. */
@Injectable()
export class MemoryPolicyRegistry {
  private readonly policies = new Map<string, MemoryPolicy>();

  private readonly memories: ReadonlyMap<string, OwnMemory>;

  /** @throws AppError `MEMORY_POLICY_INVALID` for a memory without `open`, or with the name of a policy */
  constructor(@Optional() @Inject(OWN_MEMORIES) memories: OwnMemories = {}) {
    this.memories = new Map(Object.entries(memories));
    const own = [
      new SlidingWindowPolicy(),
      new FixedWindowPolicy(),
      new LruPolicy(),
      new TokenBudgetPolicy(),
      new SummaryPolicy(),
    ];
    for (const policy of own) this.register(policy);
    for (const [name, memory] of this.memories) assertMemory(name, memory);
  }

  /** Adds a custom policy. @throws AppError `MEMORY_POLICY_INVALID` if the name is in use */
  register(policy: MemoryPolicy): void {
    if (this.policies.has(policy.name) || this.memories.has(policy.name)) {
      throw new AppError('MEMORY_POLICY_INVALID', `There is a memory policy "${policy.name}" already.`);
    }
    this.policies.set(policy.name, policy);
  }

  /** @throws AppError `MEMORY_POLICY_INVALID` */
  get(name: string): MemoryPolicy {
    const policy = this.policies.get(name);
    if (policy) return policy;
    const fault = this.memories.has(name)
      ? `"${name}" is a memory, and this needs a memory policy`
      : `There is no memory policy "${name}"`;
    throw new AppError('MEMORY_POLICY_INVALID', `${fault}; there are ${[...this.policies.keys()].join(', ')}.`);
  }

  /** A memory of the application. */
  own(name: string): OwnMemory | undefined {
    return this.memories.get(name);
  }

  /** @throws AppError `MEMORY_POLICY_INVALID` if the name is that of no policy and of no memory */
  assertKnown(name: string): void {
    if (this.policies.has(name) || this.memories.has(name)) return;
    const names = [...this.policies.keys(), ...this.memories.keys()].join(', ');
    throw new AppError('MEMORY_POLICY_INVALID', `There is no memory policy "${name}"; there are ${names}.`);
  }
}

const FIELDS: ReadonlySet<string> = new Set<keyof OwnMemory>(['open', 'isOfSession']);

function assertMemory(name: string, memory: unknown): void {
  const { open, isOfSession, ...others } = (memory ?? {}) as Partial<Record<string, unknown>>;
  const [unknown] = Object.keys(others);
  const fault =
    typeof open !== 'function'
      ? 'has no function `open`, which returns a Memory'
      : unknown !== undefined
        ? `has an unknown field "${unknown}" (known: ${[...FIELDS].join(', ')})`
        : undefined;
  if (fault === undefined && (isOfSession === undefined || typeof isOfSession === 'boolean')) return;
  const message = `memories.${name} ${fault ?? 'has an isOfSession that is neither true nor false'}.`;
  throw new AppError('MEMORY_POLICY_INVALID', message);
}

const NO_LIMIT = Number.MAX_SAFE_INTEGER;
/** Maximum number of turns that are read because they are marked, for example for a system message. */
const MARKED = 100;
/** Maximum number of pages that one selection reads: shortened turns leave room for older ones. */
const MOST_PAGES = 8;
/** Turns that a replay reads in one statement. */
const READ_AT_ONCE = 500;
/** The share of the budget that a summary may take. */
const SUMMARY_SHARE = 1 / 3;

interface Past {
  readonly lastTurn: number;
  readonly messageCount: number;
  readonly facts: readonly DataFact[];
  readonly turns: readonly StoredTurn[];
}

interface Look extends MemoryTools {
  readonly key: SessionKey;
  readonly rules: MemoryRules;
  readonly policy: MemoryPolicy;
}

interface Choice {
  readonly turns: readonly StoredTurn[];
  readonly selection: Selection;
  readonly viewOf: (turn: StoredTurn) => SeenMessages;
  readonly summary: Summary | null;
  readonly summaryCut: TextCut | null;
  readonly summaryTokens: number;
}

type Selected = Pick<Choice, 'turns' | 'selection' | 'viewOf'>;

/** Selects a run's part of its session within the limits of the agent; the newest turn is always included. */
@Injectable()
export class SessionMemory {
  constructor(
    private readonly sessions: SessionStore,
    private readonly turns: TurnStore,
    private readonly summaries: SummaryStore,
    private readonly extension: SummaryExtension,
    private readonly policies: MemoryPolicyRegistry,
    private readonly ownMemories: OwnMemoryService,
  ) {}

  /** Whether an application's memory provides the context, which may exist without earlier turns. */
  isOwn({ policy }: MemoryRules): boolean {
    return this.policies.own(policy) !== undefined;
  }

  /** Reads the session and selects the run's part of it; the decision is in the `place`, which the run records. */
  async look(key: SessionKey, rules: MemoryRules, tools: MemoryTools): Promise<Recollection> {
    const { run } = tools;
    const own = this.policies.own(rules.policy);
    if (own && run) return this.ownMemories.recall(key, rules, own, { count: tools.count, run });
    const look: Look = { ...tools, key, rules, policy: this.policies.get(rules.policy) };
    const past = await this.read(look);
    const { turns, selection, viewOf, summary, summaryCut, summaryTokens } = await this.choose(look, past);
    const place: MemoryPlace = {
      lastTurn: past.lastTurn,
      messageCount: past.messageCount,
      // Facts of omitted turns count, too: selected turns may repeat their content.
      ...(past.facts.length > 0 && { facts: past.facts }),
      ...(summary && { summary }),
      given: {
        turns: toRanges(selection.turns),
        cuts: selection.cuts,
        ...(summaryCut && { summaryCut }),
        tokens: selection.tokens + summaryTokens,
        maxMessages: rules.maxMessages,
        maxContextTokens: rules.maxContextTokens,
      },
    };
    return recollectPlace(place, turns, rules, viewOf);
  }

  /** Applies the decision of an earlier `look` of the run to the same turns. */
  async lookAgain(key: SessionKey, rules: MemoryRules, place: MemoryPlace): Promise<Recollection> {
    if (place.context) return this.ownMemories.recollect(key, rules, place);
    const numbers = rules.enabled ? expandRanges(place.given?.turns ?? []) : [];
    const turns: StoredTurn[] = [];
    for (let at = 0; at < numbers.length; at += READ_AT_ONCE) {
      const only = numbers.slice(at, at + READ_AT_ONCE);
      turns.push(...(await this.turns.read(key, { newest: 0, only, through: place.lastTurn })));
    }
    return recollectPlace(place, turns, rules);
  }

  private async read({ key, rules, policy, references = [] }: Look): Promise<Past> {
    const query = queryOf(policy, rules);
    // A policy that ranks by use considers the references of this question, as if earlier questions had made them.
    const only = query.marked === undefined ? [] : references;
    const wanted = { marked: MARKED, ...query, ...(only.length > 0 && { only }), through: NO_LIMIT };
    const [session, turns] = await Promise.all([
      this.sessions.read(key),
      rules.enabled ? this.turns.read(key, wanted) : [],
    ]);
    const { lastTurn = 0, messageCount = 0 } = session ?? {};
    const facts = session && rules.enabled ? factsOfSession(session) : [];
    const visible = turns.filter(({ turn }) => turn <= lastTurn);
    const used = visible.map((turn) =>
      only.includes(turn.turn) ? { ...turn, mark: Math.max(turn.mark ?? 0, lastTurn + 1) } : turn,
    );
    return { lastTurn, messageCount, facts, turns: used };
  }

  private async choose(look: Look, past: Past): Promise<Choice> {
    const { key, policy, rules } = look;
    const isOn = rules.enabled && rules.maxContextTokens > 0 && rules.maxMessages > 0;
    if (!policy.summarises || !isOn) return this.selectAfter(look, past, null);
    const former = await this.summaries.latest(key, past.lastTurn);
    const choice = await this.selectAfter(look, past, former);
    // The selection starts at the newest turn: if it includes the oldest, it includes all. Turn numbers may have gaps.
    const [oldest] = await this.turns.after(key, former?.through ?? 0, 1);
    if (!oldest || choice.selection.seen.has(oldest.turn)) return choice;
    const staying = (memoryRules: MemoryRules) => this.staying({ ...look, rules: memoryRules }, past.lastTurn);
    const summary = await this.extension.extend(key, former, { rules, staying, summarise: look.summarise });
    return summary ? this.selectAfter(look, past, summary) : choice;
  }

  /** The turns that a summary does not cover; a summary never covers the newest turn. */
  private async staying(look: Look, lastTurn: number): Promise<ReadonlySet<number>> {
    const { key, policy, rules } = look;
    const turns = await this.turns.read(key, { ...queryOf(policy, rules), through: lastTurn });
    const { seen } = new TurnSelection(rules, policy, look.count).select(turns, NOTHING_RESERVED);
    return new Set([...seen, ...turns.slice(-1).map(({ turn }) => turn)]);
  }

  private async selectAfter(look: Look, past: Past, summary: Summary | null): Promise<Choice> {
    const { rules, count } = look;
    const maxTokens = Math.floor(rules.maxContextTokens * SUMMARY_SHARE);
    const message = summary && summaryMessage(summary);
    const isFitting = !message || count([message]) <= maxTokens;
    const summaryCut = isFitting ? null : cutToTokens(message, 0, maxTokens, count);
    const shown = message && summaryCut ? withCut(message, summaryCut) : message;
    const summaryTokens = shown ? count([shown]) : 0;
    const reserved = { messages: shown ? 1 : 0, tokens: summaryTokens, through: summary?.through ?? 0 };
    return { ...(await this.selectWith(look, past, reserved)), summary, summaryCut, summaryTokens };
  }

  /** Shortened turns leave room for older ones, which are then read. */
  private async selectWith(look: Look, past: Past, reserved: Reserved): Promise<Selected> {
    const { key, policy, rules } = look;
    const building = new TurnSelection(rules, policy, look.count);
    let { turns } = past;
    let selection = building.select(turns, reserved);
    let query: TurnQuery = { ...queryOf(policy, rules), through: past.lastTurn };
    for (let pages = 1; policy.readsOn && selection.hasRoom && pages < MOST_PAGES; pages++) {
      const { newest, maxMessages, maxTokens, isPlain } = query;
      const bounds = {
        ...(maxMessages && { maxMessages }),
        ...(maxTokens && { maxTokens }),
        ...(isPlain && { isPlain }),
      };
      query = { newest, ...bounds, through: oldestRead(turns, query) - 1 };
      const older = query.through > reserved.through ? await this.turns.read(key, query) : [];
      if (older.length === 0) break;
      turns = merged(turns, older);
      selection = building.select(turns, reserved);
    }
    return { turns, selection, viewOf: (turn) => building.viewOf(turn) };
  }
}

/** The query of a policy, extended to include the newest turn. */
function queryOf(policy: MemoryPolicy, rules: MemoryRules): Omit<TurnQuery, 'through'> {
  const query = policy.query(rules);
  const { maxMessages, maxTokens } = query;
  return {
    ...query,
    newest: Math.max(query.newest, 1),
    ...(maxMessages !== undefined && { maxMessages: Math.max(maxMessages, 1) }),
    ...(maxTokens !== undefined && { maxTokens: Math.max(maxTokens, 1) }),
  };
}

/** The oldest of the newest turns that a query has read; marked and first turns are not among these. */
function oldestRead(turns: readonly StoredTurn[], query: TurnQuery): number {
  const { through, newest, maxMessages = NO_LIMIT, maxTokens = NO_LIMIT, isPlain } = query;
  let [oldest, count, messages, tokens] = [through + 1, 0, 0, 0];
  for (const turn of turns.toReversed()) {
    if (turn.turn > through) continue;
    if (count >= newest || messages >= maxMessages || tokens >= maxTokens) break;
    oldest = turn.turn;
    count++;
    messages += turn.messages.length;
    tokens += isPlain ? turn.plainTokens : turn.tokens;
  }
  return oldest;
}

function merged(turns: readonly StoredTurn[], older: readonly StoredTurn[]): readonly StoredTurn[] {
  const all = new Map([...older, ...turns].map((turn) => [turn.turn, turn]));
  return [...all.values()].toSorted((a, b) => a.turn - b.turn);
}
