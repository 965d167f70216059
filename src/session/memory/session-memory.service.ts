import { Injectable } from '@nestjs/common';
import type { RunUsage } from '../../run/index.js';
import { SessionStore } from '../session-store.js';
import type { SessionKey, SessionMessage, StoredTurn } from '../session.types.js';
import { TurnStore } from '../turns/turn-store.js';
import { isEmpty, repairTurn } from './history-repair.policy.js';
import { MemoryPolicyRegistry } from './memory-policy.registry.js';
import type { MemoryPolicy } from './memory-policy.js';
import type { MemoryPlace, MemoryRules, Recollection, Summarise, Summary, TurnSize } from './memory.types.js';
import { toPlainTurn } from './plain-turn.mapper.js';
import { SummaryStore } from './summary.store.js';

const NO_LIMIT = Number.MAX_SAFE_INTEGER;
/** Turns that may be marked for what a system message says in them. */
const MARKED = 100;
/** Turns that one summary may take up. */
const MOST_SUMMARISED = 200;
/** What stays unsummarised, of both limits: so that not every turn needs a new summary. */
const KEPT_SHARE = 0.5;
/** What one summary takes up at most, in times of the limit; in tokens at least this. The next run goes on with the rest. */
const SUMMARISED_TIMES = 4;
const LEAST_SUMMARISED = 8000;

interface Past {
  readonly lastTurn: number;
  readonly messageCount: number;
  /** What there is to choose from. */
  readonly turns: readonly StoredTurn[];
}

interface Choice {
  readonly seen: ReadonlySet<number>;
  readonly summary: Summary | null;
  /** What a new summary took. */
  readonly usage?: RunUsage;
}

/** Looks back: what a run sees of its session, by the rules of its agent. */
@Injectable()
export class SessionMemory {
  constructor(
    private readonly sessions: SessionStore,
    private readonly turns: TurnStore,
    private readonly summaries: SummaryStore,
    private readonly policies: MemoryPolicyRegistry,
  ) {}

  /** @param summarise asked when turns have to make place and the policy wants them told in short */
  async look(key: SessionKey, rules: MemoryRules, summarise: Summarise): Promise<Recollection> {
    const policy = this.policies.get(rules.policy);
    const past = await this.read(key, policy, rules);
    const choice = await this.choose(key, past, { policy, rules, summarise });
    const place: MemoryPlace = {
      lastTurn: past.lastTurn,
      messageCount: past.messageCount,
      // Marks may change until the run is replayed.
      ...((!policy.isStable || past.turns.some(({ mark }) => mark !== null)) && { turns: [...choice.seen] }),
      ...(choice.summary && { summary: choice.summary }),
      ...(choice.usage && { usage: choice.usage }),
    };
    return recollect(place, past.turns, choice, rules);
  }

  /** The same again, for a run that looked before. */
  async lookAgain(key: SessionKey, rules: MemoryRules, place: MemoryPlace): Promise<Recollection> {
    const policy = this.policies.get(rules.policy);
    const { lastTurn: through, turns: only, summary = null } = place;
    const query = only ? { newest: 0, only } : policy.query(rules);
    const turns = rules.enabled ? await this.turns.read(key, { ...query, through, marked: MARKED }) : [];
    const candidates = turns.filter(({ turn }) => turn > (summary?.through ?? 0));
    const seen = new Set(only ?? this.select(candidates, policy, withRoomFor(summary, rules)));
    return recollect(place, turns, { seen, summary }, rules);
  }

  private async read(key: SessionKey, policy: MemoryPolicy, rules: MemoryRules): Promise<Past> {
    const query = { marked: MARKED, ...policy.query(rules), through: NO_LIMIT };
    const [session, turns] = await Promise.all([
      this.sessions.find(key.tenant, key.id),
      rules.enabled ? this.turns.read(key, query) : [],
    ]);
    const { lastTurn = 0, messageCount = 0 } = session ?? {};
    return { lastTurn, messageCount, turns: turns.filter(({ turn }) => turn <= lastTurn) };
  }

  private async choose(
    key: SessionKey,
    { turns, lastTurn }: Past,
    { policy, rules, summarise }: { policy: MemoryPolicy; rules: MemoryRules; summarise: Summarise },
  ): Promise<Choice> {
    if (!policy.summarises || !rules.enabled) return { seen: this.select(turns, policy, rules), summary: null };
    const former = await this.summaries.latest(key, lastTurn);
    const after = (summary: Summary | null) => turns.filter(({ turn }) => turn > (summary?.through ?? 0));
    const seen = this.select(after(former), policy, withRoomFor(former, rules));
    if (seen.size === lastTurn - (former?.through ?? 0)) return { seen, summary: former };
    const extended = await this.extend(key, former, { lastTurn, rules, summarise });
    if (!extended) return { seen, summary: former };
    const { summary, usage } = extended;
    return { seen: this.select(after(summary), policy, withRoomFor(summary, rules)), summary, usage };
  }

  /** Takes the oldest turns up into the summary, so far that the rest is well within the limits; `null` if that cannot be. */
  private async extend(
    key: SessionKey,
    former: Summary | null,
    { lastTurn, rules, summarise }: { lastTurn: number; rules: MemoryRules; summarise: Summarise },
  ): Promise<{ readonly summary: Summary; readonly usage: RunUsage } | null> {
    const policy = this.policies.get('sliding_window');
    const kept = {
      ...rules,
      maxMessages: Math.floor(rules.maxMessages * KEPT_SHARE),
      maxContextTokens: Math.floor(rules.maxContextTokens * KEPT_SHARE),
    };
    const newest = await this.turns.read(key, { ...policy.query(kept), through: lastTurn });
    const stay = this.select(newest, policy, kept);
    const oldest = await this.turns.after(key, former?.through ?? 0, MOST_SUMMARISED);
    const taken = within(
      oldest.filter(({ turn }) => !stay.has(turn)),
      Math.max(rules.maxContextTokens * SUMMARISED_TIMES, LEAST_SUMMARISED),
    );
    const last = taken.at(-1);
    if (!last) return null;
    const messages = taken.flatMap((turn) => seenOf(turn, rules).messages);
    const made = await summarise(former?.text ?? null, messages);
    return made && { summary: { through: last.turn, text: made.text, tokens: made.tokens }, usage: made.usage };
  }

  private select(turns: readonly StoredTurn[], policy: MemoryPolicy, rules: MemoryRules): Set<number> {
    if (!rules.enabled) return new Set();
    return new Set(
      policy.choose(
        turns.map((turn) => sizeOf(turn, rules)),
        rules,
      ),
    );
  }
}

/** The first turns, one at least, up to so many tokens. */
function within(turns: readonly StoredTurn[], maxTokens: number): readonly StoredTurn[] {
  let tokens = 0;
  return turns.filter((turn, at) => (tokens += turn.tokens) <= maxTokens || at === 0);
}

function withRoomFor(summary: Summary | null, rules: MemoryRules): MemoryRules {
  if (!summary) return rules;
  return { ...rules, maxContextTokens: rules.maxContextTokens - summary.tokens, maxMessages: rules.maxMessages - 1 };
}

function sizeOf(turn: StoredTurn, { includeToolCalls }: MemoryRules): TurnSize {
  return {
    turn: turn.turn,
    messages: turn.messages.length,
    tokens: includeToolCalls ? turn.tokens : turn.plainTokens,
    mark: turn.mark,
  };
}

function recollect(
  place: MemoryPlace,
  turns: readonly StoredTurn[],
  { seen, summary }: Choice,
  rules: MemoryRules,
): Recollection {
  const messages: SessionMessage[] = summary ? [toMessage(summary)] : [];
  const repaired: number[] = [];
  let [tokens, given] = [summary?.tokens ?? 0, 0];
  for (const turn of turns) {
    if (!seen.has(turn.turn)) {
      const system = turn.messages.filter(({ role }) => role === 'system');
      messages.push(...system);
      given += system.length;
      continue;
    }
    const view = seenOf(turn, rules);
    if (view.isRepaired) repaired.push(turn.turn);
    messages.push(...view.messages);
    given += view.messages.length;
    tokens += rules.includeToolCalls ? turn.tokens : turn.plainTokens;
  }
  const state = {
    message_count: place.messageCount,
    context_tokens: tokens,
    dropped: Math.max(place.messageCount - given, 0),
    policy: rules.enabled ? rules.policy : 'none',
  };
  return { place, messages, state, repaired };
}

function seenOf({ messages }: StoredTurn, { includeToolCalls }: MemoryRules) {
  const mended = repairTurn(messages);
  const seen = includeToolCalls ? mended : toPlainTurn(mended);
  return {
    messages: seen.some(isEmpty) ? seen.filter((message) => !isEmpty(message)) : seen,
    isRepaired: mended !== messages,
  };
}

/** Data, as what it was made of: no instruction. */
function toMessage({ text }: Summary): SessionMessage {
  return { role: 'user', content: `Summary of our conversation so far:\n${text}` };
}
