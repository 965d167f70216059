import { Injectable } from '@nestjs/common';
import { SessionStore } from '../session-store.js';
import type { SessionKey, StoredTurn } from '../session.types.js';
import { TurnStore } from '../turns/turn-store.js';
import { MemoryPolicyRegistry } from './memory-policy.registry.js';
import type { MemoryPolicy } from './memory-policy.js';
import type { MemoryPlace, MemoryRules, Recollection, Summarise, Summary } from './memory.types.js';
import { recollect, seenOf, sizeOf, type Choice } from './recollection.mapper.js';
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
  readonly isTainted: boolean;
  /** What there is to choose from. */
  readonly turns: readonly StoredTurn[];
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
      // Also what was left out may have become a part of what is seen.
      ...(past.isTainted && { isTainted: true as const }),
      // Marks may change until the run is replayed.
      ...((!policy.isStable || past.turns.some(({ mark }) => mark !== null)) && { turns: [...choice.seen] }),
      ...(choice.summary && { summary: choice.summary }),
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
    const { lastTurn = 0, messageCount = 0, taintedTurn = null } = session ?? {};
    const isTainted = rules.enabled && taintedTurn !== null && taintedTurn <= lastTurn;
    return { lastTurn, messageCount, isTainted, turns: turns.filter(({ turn }) => turn <= lastTurn) };
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
    // The newest ones are seen: if the oldest is among them, all are. Numbers do not tell, as turns may be gone.
    const [oldest] = await this.turns.after(key, former?.through ?? 0, 1);
    if (!oldest || seen.has(oldest.turn)) return { seen, summary: former };
    const summary = await this.extend(key, former, { lastTurn, rules, summarise });
    if (!summary) return { seen, summary: former };
    return { seen: this.select(after(summary), policy, withRoomFor(summary, rules)), summary };
  }

  /** Takes the oldest turns up into the summary, so far that the rest is well within the limits; `null` if that cannot be. */
  private async extend(
    key: SessionKey,
    former: Summary | null,
    { lastTurn, rules, summarise }: { lastTurn: number; rules: MemoryRules; summarise: Summarise },
  ): Promise<Summary | null> {
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
    return made && { through: last.turn, text: made.text, tokens: made.tokens };
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
