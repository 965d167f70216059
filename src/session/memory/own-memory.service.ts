import { Injectable } from '@nestjs/common';
import { AppError, messageOf } from '../../errors/index.js';
import { untilAborted } from '../../kernel/index.js';
import { isRelinquished } from '../../run/context/index.js';
import type { DataFact } from '../../run/facts/index.js';
import { factsOfSession } from '../session-facts.mapper.js';
import { SessionStore } from '../session-store.js';
import type { SessionKey, SessionMessage, SessionRecord } from '../session.types.js';
import { TurnStore } from '../turns/turn-store.js';
import { repairTurn } from './history-repair.policy.js';
import { assertMessage } from './message.schema.js';
import type { AskingRun, CountTokens, MemoryPlace, MemoryRules, Recollection } from './memory.types.js';
import type { OwnMemory, RunMemory } from './memory.js';
import { recollectPlace, seenOf } from './recollection.mapper.js';

/** Maximum number of open memories in this process; the least recently used is released first. */
const MAX_OPEN = 1000;
/** An unused memory is released after this time, in ms. */
const IDLE_MS = 3_600_000;
/** Time limit of a memory's work before a run, in ms. */
const TIMEOUT_MS = 30_000;
/** Turns that are read at once. */
const PAGE = 100;
/** Turns whose files the context may name. */
const NEWEST_TURNS = 50;

const FACTS: readonly DataFact[] = [
  { fact: 'untrusted', step: 'memory' },
  { fact: 'private', step: 'memory' },
];

interface Opened {
  readonly memory: RunMemory;
  /** Number of the last turn that it contains. */
  lastTurn: number;
  /** Messages of these turns. */
  messageCount: number;
  /** Monotonic time in ms. */
  usedAt: number;
}

interface ContextRequest {
  readonly key: SessionKey;
  readonly session: SessionRecord | null;
  readonly rules: MemoryRules;
  readonly own: OwnMemory;
  readonly run: AskingRun;
}

/** Requests the contexts of runs from the memories of the application. */
@Injectable()
export class OwnMemoryService {
  /** Unused open memories by conversation, the most recently used last. A run takes its memory out. */
  private readonly opened = new Map<string, Opened>();

  constructor(
    private readonly sessions: SessionStore,
    private readonly turns: TurnStore,
  ) {}

  /**
   * Adds the new messages of the session to its memory, and requests a context.
   * @throws AppError `MEMORY_FAILED` if the memory fails or takes too long
   */
  async recall(
    key: SessionKey,
    rules: MemoryRules,
    own: OwnMemory,
    { count, run }: { readonly count: CountTokens; readonly run: AskingRun },
  ): Promise<Recollection> {
    const session = await this.sessions.read(key);
    const { lastTurn = 0, messageCount = 0 } = session ?? {};
    const { maxMessages, maxContextTokens } = rules;
    const context = isOn(rules) ? await this.contextOf({ key, session, rules, own, run }) : [];
    const place: MemoryPlace = {
      lastTurn,
      messageCount,
      facts: session && rules.enabled ? factsOfSession(session) : [],
      memoryFacts: own.isOfSession || context.length === 0 ? [] : FACTS,
      given: { turns: [], cuts: [], tokens: count(context), maxMessages, maxContextTokens },
      context,
    };
    return this.recollect(key, rules, place);
  }

  /** The recorded context of a run. */
  async recollect(key: SessionKey, rules: MemoryRules, place: MemoryPlace): Promise<Recollection> {
    const recollection = recollectPlace(place, [], rules);
    if (!place.context?.some(({ role }) => role === 'tool')) return recollection;
    const newest = await this.turns.read(key, { newest: NEWEST_TURNS, through: place.lastTurn });
    return { ...recollection, runs: newest.map(({ runId }) => runId) };
  }

  private async contextOf(request: ContextRequest): Promise<readonly SessionMessage[]> {
    const { rules, run } = request;
    const signal = AbortSignal.any([run.signal, AbortSignal.timeout(TIMEOUT_MS)]);
    try {
      const context: unknown = await untilAborted(this.request(request), signal);
      if (!Array.isArray(context)) throw new TypeError('getContext returned no list of messages');
      for (const message of context) assertMessage(message, 'getContext returns messages');
      return seenOf({ messages: context as SessionMessage[] }, rules).messages;
    } catch (error) {
      if (isRelinquished(run.signal)) throw run.signal.reason;
      // The loop ends a cancelled run without a model call.
      if (run.signal.aborted) return [];
      const message = `The memory "${rules.policy}" failed: ${messageOf(error).replace(/\.$/, '')}.`;
      throw new AppError('MEMORY_FAILED', message, { cause: error, isRetryable: true });
    }
  }

  /** A memory that fails is released, since its content is unknown. */
  private async request({ key, session, rules, own, run }: ContextRequest): Promise<readonly SessionMessage[]> {
    const conversation = { sessionId: key.id, tenant: key.tenant, userId: run.userId, name: rules.policy };
    const name = JSON.stringify(Object.values(conversation));
    const { lastTurn = 0, messageCount = 0 } = session ?? {};
    let opened = this.take(name);
    if (opened) await this.addTurns(opened, key, lastTurn);
    // Otherwise turns were removed, or the session was created again.
    if (opened?.messageCount !== messageCount) {
      opened = { memory: await own.open(conversation), lastTurn: 0, messageCount: 0, usedAt: 0 };
      await this.addTurns(opened, key, lastTurn);
    }
    const context = await opened.memory.getContext(rules.maxContextTokens, run.question);
    this.opened.set(name, { ...opened, usedAt: performance.now() });
    return context;
  }

  /** The memory of a conversation, if it is open and unused. Releases memories that were unused for long. */
  private take(name: string): Opened | undefined {
    const taken = this.opened.get(name);
    this.opened.delete(name);
    const oldest = performance.now() - IDLE_MS;
    for (const [other, { usedAt }] of this.opened) {
      if (usedAt >= oldest && this.opened.size < MAX_OPEN) break;
      this.opened.delete(other);
    }
    return taken;
  }

  private async addTurns(opened: Opened, key: SessionKey, lastTurn: number): Promise<void> {
    while (opened.lastTurn < lastTurn) {
      const page = await this.turns.after(key, opened.lastTurn, PAGE);
      for (const { turn, messages } of page.filter((one) => one.turn <= lastTurn)) {
        for (const message of repairTurn(messages)) await opened.memory.addMessage(message);
        opened.lastTurn = turn;
        opened.messageCount += messages.length;
      }
      if (page.length < PAGE) opened.lastTurn = lastTurn;
    }
  }
}

function isOn({ enabled, maxMessages, maxContextTokens }: MemoryRules): boolean {
  return enabled && maxMessages > 0 && maxContextTokens > 0;
}
