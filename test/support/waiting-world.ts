import type { Message } from '../../src/llm/chat/index.js';
import type { RunOutcome } from '../../src/run/index.js';
import { RunContext, type StepName, type StepOptions } from '../../src/run/context/index.js';
import type { Decision } from '../../src/run/decision/index.js';
import type { RunEvent } from '../../src/run/event/index.js';
import { suspend, type ToolEffect } from '../../src/tool/index.js';
import type { Tool } from '../../src/tool/method/index.js';
import type { MortalDatabase } from './mortal-database.js';
import { mortalModel, reasonIn } from './reasoned-run.js';
import { completed } from './run-host.js';
import { calls, says, type ScriptedChatModel } from './scripted-chat-model.js';

/** A call of the model, and its requests to people. */
export interface NeedyCall {
  readonly effect: ToolEffect;
  readonly needsApproval: boolean;
  /** Number of its questions before it has an effect. */
  readonly asks: number;
  /** The ability of its tool to reconcile an interrupted call. */
  readonly reconciles: 'never' | 'truly' | 'throws';
}

/** An external effect. */
export interface Deed {
  readonly effect: ToolEffect;
  /** The call's position in the run: `1:2`. */
  readonly place: string;
  readonly isEdited: boolean;
}

interface Arguments extends NeedyCall {
  readonly place: string;
  readonly isEdited?: boolean;
}

/** All external effects, over all processes. */
export class WaitingWorld {
  readonly deeds: Deed[] = [];
  /** Memos that returned with an answer, and differ from the memo of its question. */
  readonly strayMemos: unknown[] = [];
  /** The run's turn, after its end. */
  messages: readonly Message[] = [];

  /** @param plan the calls of each iteration; then the model answers */
  constructor(readonly plan: readonly (readonly NeedyCall[])[]) {}

  wasDone(place: string): boolean {
    return this.deeds.some((deed) => deed.place === place);
  }

  async execute(context: RunContext, process: MortalDatabase): Promise<RunOutcome> {
    const outcome = await reasonIn(context, {
      model: this.model(process),
      tools: (['read', 'idempotent', 'once'] as const).flatMap((effect) =>
        (['never', 'truly', 'throws'] as const).map((reconciles) => this.tool(effect, reconciles, process)),
      ),
      waiting: { expiresMs: 3_600_000, onDenied: 'continue', onExpired: 'continue' },
    });
    if (outcome.kind !== 'ended') return outcome;
    this.messages = outcome.messages;
    return completed(context.runId);
  }

  private model(process: MortalDatabase): ScriptedChatModel {
    return mortalModel(process, (said) => {
      const wanted = this.plan[said];
      if (!wanted) return says('the end');
      return calls(
        ...wanted.map(
          (call, i) => [nameOf(call), { ...call, place: `${said + 1}:${i + 1}` } satisfies Arguments] as const,
        ),
      );
    });
  }

  private tool(effect: ToolEffect, reconciles: NeedyCall['reconciles'], process: MortalDatabase): Tool {
    const name = nameOf({ effect, reconciles });
    return {
      definition: { name, description: name, inputSchema: { type: 'object' } },
      metadata: {
        effect,
        source: name,
        approval: ({ needsApproval }: Arguments) => needsApproval,
        egress: false,
        untrusted: false,
      },
      validate: (value) => ({ valid: true, value }),
      invoke: async (input, { answer }) => {
        if (process.isDead) return process.silence;
        const { place, asks, isEdited = false } = input as Arguments;
        if (answer?.denied) return `none for ${place}`;
        const answered = Number(answer?.value ?? 0);
        const memoOf = (asked: number) => ({ place, asked });
        if (answer && JSON.stringify(answer.memo) !== JSON.stringify(memoOf(answered - 1)))
          this.strayMemos.push(answer);
        if (answered < asks) {
          const schema = { type: 'integer' };
          return suspend({
            question: String(answered),
            schema,
            memo: memoOf(answered),
            takesDenial: effect === 'read',
          });
        }
        this.deeds.push({ effect, place, isEdited });
        return `did ${place}`;
      },
      ...(reconciles !== 'never' && { reconcile: (key: string) => this.reconcile(key, reconciles) }),
    };
  }

  private reconcile(key: string, how: 'truly' | 'throws') {
    if (how === 'throws') throw new Error('the other side is away');
    const place = key.split(':').slice(-2).join(':');
    return this.wasDone(place) ? { outcome: 'succeeded', result: `did ${place}` } : { outcome: 'not_happened' };
  }
}

function nameOf({ effect, reconciles }: Pick<NeedyCall, 'effect' | 'reconciles'>): string {
  return `${effect}_${reconciles}`;
}

/** A context without the memory of started calls: it acts as an engine without claims. */
export class NaiveContext extends RunContext {
  readonly runId: string;
  readonly principal: RunContext['principal'];
  readonly sessionId: string | null;
  readonly lineage: RunContext['lineage'];
  readonly signal: AbortSignal;

  constructor(private readonly real: RunContext) {
    super();
    this.runId = real.runId;
    this.principal = real.principal;
    this.sessionId = real.sessionId;
    this.lineage = real.lineage;
    this.signal = real.signal;
  }

  step<T>(name: StepName, action: () => Promise<T>, options?: StepOptions<T>): Promise<T> {
    return this.real.step(name, action, options);
  }

  isRecorded(name: Parameters<RunContext['isRecorded']>[0]): boolean {
    return this.real.isRecorded(name);
  }

  answer(requestId: string): Decision | undefined {
    return this.real.answer(requestId);
  }

  value<T>(place: string, make: () => T | Promise<T>): Promise<T> {
    return this.real.value(place, make);
  }

  async claim(_place: string, announcement: RunEvent): Promise<'claimed'> {
    this.real.emit(announcement);
    return 'claimed';
  }

  join(call: Parameters<RunContext['join']>[0]): ReturnType<RunContext['join']> {
    return this.real.join(call);
  }

  emit(event: RunEvent): void {
    this.real.emit(event);
  }
}
