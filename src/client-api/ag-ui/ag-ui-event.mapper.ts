import type { RunEvent } from '../../run/event/index.js';
import type { ClientWait } from '../interrupts/interrupt.js';
import { type AgUiEvent, type AgUiOutcome, PROTOCOL_VERSION } from './ag-ui-event.types.js';
import { reasoningId } from './ag-ui-id.js';
import type { AgUiInput, AgUiMessage } from './ag-ui-input.schema.js';
import { SubAgentBuilder } from './sub-agent.builder.js';
import { TextMessageBuilder } from './text-message.builder.js';
import { ToolCallBuilder } from './tool-call.builder.js';
import { TranscriptBuilder } from './transcript.builder.js';

type Event<Type extends RunEvent['type']> = Extract<RunEvent, { type: Type }>;

export interface AgUiRun {
  readonly runId: string;
  readonly input: Pick<AgUiInput, 'threadId' | 'runId' | 'protocolVersion' | 'parentRunId' | 'state'>;
  /** The valid messages of the request. */
  readonly messages: readonly AgUiMessage[];
}

/** Maps the events of a run to those of AG-UI. An opened message, call or step is closed before the run ends. */
export class AgUiEventMapper {
  readonly calls: ToolCallBuilder;
  private readonly texts: TextMessageBuilder;
  private readonly agents: SubAgentBuilder;
  private readonly transcript: TranscriptBuilder;
  private readonly thoughts = new Map<number, number>();
  private step = 0;
  private hasEnded = false;

  constructor(private readonly run: AgUiRun) {
    const answered = run.messages.flatMap(({ toolCallId }) => toolCallId ?? []);
    this.calls = new ToolCallBuilder(run.runId, new Set(answered));
    this.texts = new TextMessageBuilder(run.runId);
    this.agents = new SubAgentBuilder(this.isCurrent);
    this.transcript = new TranscriptBuilder(run.messages);
  }

  /** Whether `RUN_FINISHED` or `RUN_ERROR` was the last event. */
  get isOver(): boolean {
    return this.hasEnded;
  }

  /** Whether the client speaks 1.0. Earlier ones fail on event types and outcomes that they do not know. */
  private get isCurrent(): boolean {
    return typeof this.run.input.protocolVersion === 'string';
  }

  start(): AgUiEvent[] {
    const { parentRunId } = this.run.input;
    return [
      {
        type: 'RUN_STARTED',
        ...this.names(),
        ...(this.isCurrent && { protocolVersion: PROTOCOL_VERSION }),
        ...(typeof parentRunId === 'string' && { parentRunId }),
      },
      custom('run', { run_id: this.run.runId }),
    ];
  }

  /** An event that another response of the run has sent. */
  learn(event: RunEvent): void {
    this.calls.learn(event);
    if (event.type === 'message.completed') this.texts.learn(event.iteration, event.text);
    if (event.type === 'thought') this.nextThought(event.iteration);
  }

  /** @param wait with `run.waiting` only */
  take(event: RunEvent, wait?: ClientWait): AgUiEvent[] {
    const events = [...this.stepTo(event), ...this.map(event, wait)];
    for (const each of events) this.transcript.apply(each);
    return events;
  }

  /** Ends the stream because of an error. */
  fail(code: string, message: string): AgUiEvent[] {
    if (this.hasEnded) return [];
    return this.end('success', [{ type: 'RUN_ERROR', message, code }]);
  }

  private map(event: RunEvent, wait: ClientWait | undefined): AgUiEvent[] {
    switch (event.type) {
      case 'message.delta':
      case 'step.restarted':
        return this.texts.append(event);
      case 'message.completed':
        return this.complete(event);
      case 'thought':
        return this.think(event);
      case 'tool.started':
        return [...this.calls.started(event), ...this.agents.started(event, this.callOf(event))];
      case 'tool.completed':
        return [...this.agents.completed(event), ...this.calls.completed(event)];
      case 'run.waiting':
        return this.wait(wait ?? { interrupts: [] });
      case 'run.completed':
      case 'run.failed':
      case 'run.cancelled':
        return this.finish(event);
      case 'stream.closed':
        return this.fail(event.code, `Run "${event.run_id}" cannot be followed further here; it has not ended.`);
      case 'step.started':
        return [];
      case 'run.started':
      case 'run.resumed':
      case 'tool.progress':
      case 'state.changed':
      case 'policy.decided':
      case 'node.started':
      case 'node.completed':
      case 'usage':
      case 'model.switched':
      case 'model.cached':
      case 'context.compacted':
      case 'history.repaired':
        return [toCustom(event)];
    }
  }

  private complete(event: Event<'message.completed'>): AgUiEvent[] {
    const { events, id } = this.texts.complete(event);
    return [...events, ...this.calls.announce(event, id)];
  }

  private think({ iteration, text }: Event<'thought'>): AgUiEvent[] {
    if (text === '') return [];
    const messageId = reasoningId(this.run.runId, iteration, this.nextThought(iteration));
    return [
      { type: 'REASONING_START', messageId },
      { type: 'REASONING_MESSAGE_START', messageId, role: 'reasoning' },
      { type: 'REASONING_MESSAGE_CONTENT', messageId, delta: text },
      { type: 'REASONING_MESSAGE_END', messageId },
      { type: 'REASONING_END', messageId },
    ];
  }

  private nextThought(iteration: number): number {
    const n = (this.thoughts.get(iteration) ?? 0) + 1;
    this.thoughts.set(iteration, n);
    return n;
  }

  private wait(wait: ClientWait): AgUiEvent[] {
    if ('calls' in wait) {
      const pending = this.isCurrent && { pendingToolCallIds: wait.calls };
      return this.end('suspended', [this.finished({ type: 'success', ...pending })]);
    }
    const { interrupts } = wait;
    const closing = this.close('suspended');
    for (const event of closing) this.transcript.apply(event);
    this.hasEnded = true;
    return [
      ...closing,
      { type: 'STATE_SNAPSHOT', snapshot: this.run.input.state ?? {} },
      { type: 'MESSAGES_SNAPSHOT', messages: this.transcript.messages.map((message) => ({ ...message })) },
      this.finished({ type: 'interrupt', interrupts }),
    ];
  }

  private finish(event: Event<'run.completed' | 'run.failed' | 'run.cancelled'>): AgUiEvent[] {
    const { type, result, output, memory_state: _memory, ...facts } = event;
    const answer = type === 'run.completed' ? this.texts.answer(result) : [];
    const before = [...answer, ...this.texts.end(), ...this.calls.end(), custom(type, facts)];
    return [...before, ...this.end('success', [this.toEnd(event, output)])];
  }

  private toEnd(event: Event<'run.completed' | 'run.failed' | 'run.cancelled'>, output: unknown): AgUiEvent {
    if (event.type === 'run.failed') {
      return { type: 'RUN_ERROR', message: event.error.message, code: event.error.code };
    }
    if (event.type === 'run.completed') return this.finished({ type: 'success' }, output);
    if (this.isCurrent) return this.finished({ type: 'cancelled' });
    return { type: 'RUN_ERROR', message: `Run "${event.run_id}" was cancelled.`, code: 'RUN_CANCELLED' };
  }

  private finished(outcome: AgUiOutcome, result?: unknown): AgUiEvent {
    return {
      type: 'RUN_FINISHED',
      ...this.names(),
      ...(result !== undefined && result !== null && { result }),
      outcome,
    };
  }

  private end(agents: 'success' | 'suspended', last: readonly AgUiEvent[]): AgUiEvent[] {
    this.hasEnded = true;
    return [...this.close(agents), ...last];
  }

  private close(agents: 'success' | 'suspended'): AgUiEvent[] {
    return [...this.texts.end(), ...this.agents.end(agents), ...this.endStep()];
  }

  /** Each iteration of the loop is a step. */
  private stepTo(event: RunEvent): AgUiEvent[] {
    const iteration = iterationOf(event);
    if (iteration <= this.step) return [];
    const events = [...this.endStep()];
    this.step = iteration;
    return [...events, { type: 'STEP_STARTED', stepName: stepName(iteration) }];
  }

  private endStep(): AgUiEvent[] {
    const { step } = this;
    this.step = 0;
    return step === 0 ? [] : [{ type: 'STEP_FINISHED', stepName: stepName(step) }];
  }

  private callOf({ iteration, call_id: id }: Event<'tool.started'>): string {
    return this.calls.idOf(iteration, id);
  }

  private names() {
    const { threadId, runId } = this.run.input;
    return { threadId, runId };
  }
}

function custom(name: string, value: unknown): AgUiEvent {
  return { type: 'CUSTOM', name: `jackdaw.${name}`, value };
}

/** An event without a counterpart in AG-UI. */
function toCustom({ type, ...value }: RunEvent): AgUiEvent {
  return custom(type, value);
}

function stepName(iteration: number): string {
  return `iteration:${iteration}`;
}

const MODEL_STEP = /^model:(\d+)/;

/** 0 for an event outside of the loop. */
function iterationOf(event: RunEvent): number {
  if (event.type === 'step.started') return Number(MODEL_STEP.exec(event.step)?.[1] ?? 0);
  return 'iteration' in event ? (event.iteration ?? 0) : 0;
}
