import { Injectable } from '@nestjs/common';
import type { DataFact } from '../../run/facts/index.js';
import { factsOfSession } from '../session-facts.mapper.js';
import { SessionStore } from '../session-store.js';
import type { SessionKey, StoredTurn } from '../session.types.js';
import { TurnStore } from '../turns/turn-store.js';
import { MemoryPolicyRegistry } from './session-memory.js';
import type { MemoryPolicy } from './memory-policy.js';
import type { MemoryPlace, MemoryRules, Recollection, Summarise, Summary } from './memory.types.js';
import { recollect, sizeOf, type Choice } from './recollection.mapper.js';
import { SummaryExtension } from './summary-extension.js';
import { SummaryStore } from './summary.store.js';

const NO_LIMIT = Number.MAX_SAFE_INTEGER;
/** Maximum number of turns that are read because they are marked, for example for a system message. */
const MARKED = 100;
interface Past {
  readonly lastTurn: number;
  readonly messageCount: number;
  readonly facts: readonly DataFact[];
  /** The turns to choose from. */
  readonly turns: readonly StoredTurn[];
}

/** The memory of runs before version 2 of the loop: complete turns only. Replays of these runs use it. */
@Injectable()
export class WholeTurnMemory {
  constructor(
    private readonly sessions: SessionStore,
    private readonly turns: TurnStore,
    private readonly summaries: SummaryStore,
    private readonly extension: SummaryExtension,
    private readonly policies: MemoryPolicyRegistry,
  ) {}

  /** @param summarise called when turns exceed the limits and the policy uses summaries */
  async look(key: SessionKey, rules: MemoryRules, summarise: Summarise): Promise<Recollection> {
    const policy = this.policies.get(rules.policy);
    const past = await this.read(key, policy, rules);
    const choice = await this.choose(key, past, { policy, rules, summarise });
    const place: MemoryPlace = {
      lastTurn: past.lastTurn,
      messageCount: past.messageCount,
      // Facts of omitted turns count, too: selected turns may repeat their content.
      ...(past.facts.length > 0 && { facts: past.facts }),
      // Marks may change until the run is replayed.
      ...((!policy.isStable || past.turns.some(({ mark }) => mark !== null)) && { turns: [...choice.seen] }),
      ...(choice.summary && { summary: choice.summary }),
    };
    return recollect(place, past.turns, choice, rules);
  }

  /** Repeats the selection for a run with a recorded place. */
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
      this.sessions.read(key),
      rules.enabled ? this.turns.read(key, query) : [],
    ]);
    const { lastTurn = 0, messageCount = 0 } = session ?? {};
    const facts = session && rules.enabled ? factsOfSession(session) : [];
    return { lastTurn, messageCount, facts, turns: turns.filter(({ turn }) => turn <= lastTurn) };
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
    // The selection starts at the newest turn: if it includes the oldest, it includes all. Turn numbers may have gaps.
    const [oldest] = await this.turns.after(key, former?.through ?? 0, 1);
    if (!oldest || seen.has(oldest.turn)) return { seen, summary: former };
    const staying = async (memoryRules: MemoryRules) => {
      const window = this.policies.get('sliding_window');
      return this.select(
        await this.turns.read(key, { ...window.query(memoryRules), through: lastTurn }),
        window,
        memoryRules,
      );
    };
    const summary = await this.extension.extend(key, former, { rules, staying, summarise });
    if (!summary) return { seen, summary: former };
    return { seen: this.select(after(summary), policy, withRoomFor(summary, rules)), summary };
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

function withRoomFor(summary: Summary | null, rules: MemoryRules): MemoryRules {
  if (!summary) return rules;
  return { ...rules, maxContextTokens: rules.maxContextTokens - summary.tokens, maxMessages: rules.maxMessages - 1 };
}
