import { dayOf } from '../kernel/index.js';
import type { JournaledSpending, ModelBudget, ReportedUsage } from '../llm/budget/index.js';
import { toUnits } from '../llm/models/index.js';
import { insert, type Statement } from '../persistence/statement/index.js';
import type { Cipher } from '../security/encryption/index.js';
import type { LiveRun, RunBus } from './follow/run-bus.js';
import {
  endsStream,
  isLive,
  isTerminal,
  type LiveEvent,
  type RunEvent,
  type UsageReported,
} from './event/run-event.types.js';
import { RunItem } from './event/run-item.factory.js';
import { insertEvents } from './run-statement.factory.js';
import type { RunOpening, RunRecord } from './run.types.js';

const MOST_NAME = 200;
/** Maxima of one call, so that a provider's wrong values do not overflow the sums. */
const MOST_TOKENS = 1e12;
const MOST_COST = 1e15;

/**
 * Inserts the usage of a call, in the batch that journals its event. Usage of a child run counts in the session of the
 * root run.
 * @param n the event's number
 * @param at the event's time, epoch ms
 */
export function insertUsage(
  {
    id,
    tenant,
    principal,
    sessionId,
    lineage,
    agent,
  }: Pick<RunRecord, 'id' | 'tenant' | 'principal' | 'sessionId' | 'lineage' | 'agent'>,
  usage: UsageReported,
  n: number,
  at: number,
): Statement {
  return insert('run_usage', {
    run_id: id,
    n,
    tenant,
    session_id: (lineage ? lineage.rootSessionId : sessionId) ?? '',
    principal_id: principal.id,
    day: dayOf(at),
    model: usage.model.slice(0, MOST_NAME),
    prompt_tokens: tokens(usage.prompt_tokens),
    completion_tokens: tokens(usage.completion_tokens),
    total_tokens: tokens(usage.total_tokens),
    cached_tokens: usage.cached_tokens === undefined ? null : tokens(usage.cached_tokens),
    cache_write_tokens: usage.cache_write_tokens === undefined ? null : tokens(usage.cache_write_tokens),
    reasoning_tokens: usage.reasoning_tokens === undefined ? null : tokens(usage.reasoning_tokens),
    cost: usage.cost === undefined ? null : Math.min(toUnits(usage.cost), MOST_COST),
    created_at: at,
    agent,
    duration_ms: usage.execution_time_ms ?? null,
    first_token_ms: usage.first_token_ms ?? null,
  });
}

function tokens(reported: number): number {
  return Math.min(Math.round(reported), MOST_TOKENS);
}

/** The content that a batch takes from the outbox; published only once the batch is durable. */
export interface OutgoingBatch {
  /** The number of its first journaled event. */
  readonly first: number | undefined;
  readonly statements: readonly Statement[];
  /** Its journaled events. */
  readonly events: readonly RunEvent[];
  /** The same, with their numbers and times. */
  readonly items: readonly RunItem[];
  publish(): void;
  discard(): void;
}

/** Above the number of messages of one execution: attempts are numbered from `epoch` times this value. */
const ATTEMPTS_PER_EPOCH = 1_000_000;

/**
 * The unpublished events of a run, in order. Journaled events get their number and wait for their batch; live events
 * pass at once unless a journaled one is before them. Text gets its place in the message: attempts count through the
 * messages of this execution, above those of all earlier ones, so that no two attempts share a number.
 */
export class RunOutbox {
  private waiting: RunItem[] = [];
  private journaledWaiting = 0;
  /** Batches that are being committed; live events queue behind them. */
  private readonly inFlight: { items: RunItem[]; isDurable: boolean }[] = [];
  private readonly live: LiveRun;
  private attempt: number;
  /** Length of the text of this attempt, in UTF-16 units. */
  private offset = 0;
  /** Whether an earlier execution may have stopped inside a message; reset by the first step of this execution. */
  private wasInterrupted: boolean;

  /**
   * @param last the number of the run's last journaled event
   * @param cipher the journal's
   * @param budget the journal's
   */
  constructor(
    private readonly run: RunRecord,
    private readonly bus: RunBus,
    private last: number,
    private readonly cipher: Cipher,
    private readonly budget: ModelBudget,
  ) {
    this.live = bus.live.open(run.id, last);
    this.attempt = run.epoch * ATTEMPTS_PER_EPOCH;
    this.wasInterrupted = run.epoch > 1;
  }

  get hasJournaled(): boolean {
    return this.journaledWaiting > 0;
  }

  add(event: RunEvent): void {
    if (isLive(event)) return this.addLive(event);
    this.journaledWaiting++;
    this.waiting.push(new RunItem(++this.last, Date.now(), event));
    if (event.type === 'message.completed') this.beginMessage();
  }

  take(): OutgoingBatch {
    const items = this.waiting;
    this.waiting = [];
    this.journaledWaiting = 0;
    const { publish, discard } = this.hold(items);
    const spending = this.spendingIn(items);
    return {
      first: items.find(({ n }) => n !== null)?.n ?? undefined,
      statements: [...this.statementsOf(items), ...(spending?.statements ?? [])],
      events: items.filter(({ n }) => n !== null).map(({ event }) => event),
      items: items.filter(({ n }) => n !== null),
      publish: () => {
        spending?.committed();
        publish();
      },
      discard: () => {
        spending?.discard();
        discard();
      },
    };
  }

  /** Queues the items of a batch that is being committed; later items are published after them. */
  hold(items: RunItem[]): Pick<OutgoingBatch, 'publish' | 'discard'> {
    const flight = { items, isDurable: false };
    this.inFlight.push(flight);
    return {
      publish: () => {
        flight.isDurable = true;
        this.release();
      },
      discard: () => {
        flight.items = [];
        flight.isDurable = true;
        this.release();
      },
    };
  }

  /**
   * Publishes the events of the run's start when they are written, before all others. Resolves when the listeners of
   * all runs have received them.
   */
  async open({ items, written }: RunOpening): Promise<void> {
    const { publish, discard } = this.hold([...items]);
    try {
      await written;
    } catch (error) {
      discard();
      throw error;
    }
    publish();
    await this.bus.audience.caughtUp();
  }

  private statementsOf(items: readonly RunItem[]): Statement[] {
    const journaled = items.filter(({ n }) => n !== null);
    const statements = insertEvents(this.run, journaled, this.cipher);
    for (const { n, event, at } of journaled) {
      if (event.type === 'usage') statements.push(insertUsage(this.run, event, n!, at));
    }
    return statements;
  }

  private spendingIn(items: readonly RunItem[]): JournaledSpending | null {
    const usages: ReportedUsage[] = [];
    let isOver = false;
    for (const { event } of items) {
      if (event.type === 'usage') usages.push({ tokens: event.total_tokens, cost: event.cost ?? 0 });
      else isOver ||= isTerminal(event);
    }
    const { id, epoch } = this.run;
    return usages.length > 0 || isOver ? this.budget.journaled(id, usages, isOver, epoch > 1) : null;
  }

  private addLive(event: LiveEvent): void {
    switch (event.type) {
      case 'step.started':
        this.push(event);
        this.beginStep(event.step);
        break;
      case 'message.delta':
        this.offset += event.text.length;
        this.push(event);
        break;
      case 'step.restarted':
        this.beginMessage();
        this.offset = event.text.length;
        this.push(event);
        break;
      case 'tool.progress':
      case 'stream.closed':
        this.push(event);
    }
  }

  /** A model step starts a message, and voids the text of an incomplete one. */
  private beginStep(step: string): void {
    const [kind, iteration] = step.split(':');
    const isVoid = this.wasInterrupted || this.offset > 0;
    this.wasInterrupted = false;
    if (kind !== 'model') return;
    if (isVoid) this.addLive({ type: 'step.restarted', iteration: Number.parseInt(iteration ?? '', 10), text: '' });
    else this.beginMessage();
  }

  private beginMessage(): void {
    this.attempt++;
    this.offset = 0;
  }

  private push(event: LiveEvent): void {
    const { last: n, attempt, offset } = this;
    const isText = event.type === 'message.delta' || event.type === 'step.restarted';
    const place = isText ? { n, attempt, offset } : { n, attempt: 0, offset: 0 };
    const item = new RunItem(null, Date.now(), event, undefined, place);
    if (this.journaledWaiting > 0) this.waiting.push(item);
    else if (this.inFlight.length > 0) this.inFlight.at(-1)!.items.push(item);
    else this.publish(item);
  }

  private release(): void {
    while (this.inFlight[0]?.isDurable) for (const item of this.inFlight.shift()!.items) this.publish(item);
  }

  private publish(item: RunItem): void {
    const { id } = this.run;
    this.live.apply(item);
    if (endsStream(item.event)) this.bus.live.close(id);
    this.bus.emit(this.run, item);
  }
}
