import type { AgentRunInput } from '../../agent/index.js';
import { toErrorCode } from '../../agent/answer/index.js';
import { AppError, type ErrorCode } from '../../errors/index.js';
import { parseExactJson } from '../../kernel/json/index.js';
import type { RunRecord } from '../../run/index.js';
import type { RunEvent, TerminalEvent } from '../../run/event/index.js';
import type { ClientWait } from '../interrupts/interrupt.js';
import type { WatchedEvent } from '../interrupts/run-watch.service.js';
import type { A2aArtifact, A2aMessage, A2aPart, A2aTask, StreamResponse, TaskState, TaskStatus } from './a2a.types.js';
import { toUserMessage } from './message.mapper.js';

type Event<Type extends RunEvent['type']> = Extract<RunEvent, { type: Type }>;

const ANSWER = 'answer';
/** Failures by which the agent, a person or a budget declined the task. */
const REFUSALS: ReadonlySet<string> = new Set<ErrorCode>([
  'BUDGET_EXCEEDED',
  'INPUT_BLOCKED',
  'TOOL_DENIED',
  'TOOL_EXPIRED',
]);
const TERMINAL: readonly TaskState[] = [
  'TASK_STATE_COMPLETED',
  'TASK_STATE_FAILED',
  'TASK_STATE_CANCELED',
  'TASK_STATE_REJECTED',
];

export function isRefusal(code: string): boolean {
  return REFUSALS.has(code);
}

export function isTerminalState(state: TaskState): boolean {
  return TERMINAL.includes(state);
}

export interface TaskView {
  /** Maximum number of messages; by default all. */
  readonly historyLength?: number | undefined;
  readonly hasArtifacts?: boolean;
}

/** Folds the events of a run into a task; each event is also an update of the stream of the task. */
export class TaskBuilder {
  private status: TaskStatus;
  private answer: A2aArtifact | undefined;
  private metadata: Readonly<Record<string, unknown>> | undefined;
  private readonly history: A2aMessage[];
  private readonly contextId: string;
  /** The iteration whose text the artifact of the stream has. */
  private iteration = 0;

  constructor(private readonly run: Pick<RunRecord, 'id' | 'sessionId' | 'input' | 'createdAt'>) {
    this.contextId = run.sessionId ?? '';
    this.status = { state: 'TASK_STATE_SUBMITTED', timestamp: toTime(run.createdAt) };
    this.history = [toUserMessage(parseExactJson(run.input) as AgentRunInput, this.place)];
  }

  get state(): TaskState {
    return this.status.state;
  }

  get isOver(): boolean {
    return isTerminalState(this.state);
  }

  toTask({ historyLength = Infinity, hasArtifacts = true }: TaskView = {}): A2aTask {
    const history = historyLength === 0 ? [] : this.history.slice(-historyLength);
    return {
      id: this.run.id,
      ...(this.run.sessionId !== null && { contextId: this.contextId }),
      status: this.status,
      ...(hasArtifacts && { artifacts: this.answer ? [this.answer] : [] }),
      ...(history.length > 0 && { history }),
      ...(this.metadata && { metadata: this.metadata }),
    };
  }

  /** @returns the updates of the stream */
  take({ event, at, wait }: WatchedEvent): StreamResponse[] {
    switch (event.type) {
      case 'run.started':
      case 'run.resumed':
        return this.work(at);
      case 'policy.decided':
        return 'request_id' in event ? this.work(at) : [];
      case 'message.delta':
        return this.append(event, event.iteration === this.iteration);
      case 'step.restarted':
        return this.append(event, false);
      case 'message.completed':
        return this.complete(event, at);
      case 'run.waiting':
        return this.update('TASK_STATE_INPUT_REQUIRED', at, wait && this.question(wait, event));
      case 'run.completed':
      case 'run.failed':
      case 'run.cancelled':
        return this.end(event, at);
      case 'stream.closed':
        // A run behind another one of its session stays queued.
        if (event.code === 'SESSION_BUSY') return [];
        throw new AppError(toErrorCode(event.code), `Task "${event.run_id}" cannot be followed further here.`);
      case 'step.started':
      case 'thought':
      case 'tool.started':
      case 'tool.progress':
      case 'tool.completed':
      case 'state.changed':
      case 'node.started':
      case 'node.completed':
      case 'usage':
      case 'model.switched':
      case 'model.cached':
      case 'context.compacted':
      case 'history.repaired':
        return [];
    }
  }

  private get place() {
    const { id: taskId, sessionId } = this.run;
    return { taskId, ...(sessionId !== null && { contextId: sessionId }) };
  }

  private work(at: number): StreamResponse[] {
    return this.state === 'TASK_STATE_WORKING' ? [] : this.update('TASK_STATE_WORKING', at);
  }

  private update(
    state: TaskState,
    at: number,
    message?: A2aMessage,
    metadata?: Readonly<Record<string, unknown>>,
  ): StreamResponse[] {
    this.status = { state, ...(message && { message }), timestamp: toTime(at) };
    const { id: taskId } = this.run;
    const more = metadata && { metadata };
    return [{ statusUpdate: { taskId, contextId: this.contextId, status: this.status, ...more } }];
  }

  /** The text of the reply so far, which a later reply of the model replaces. */
  private append({ iteration, text }: Event<'message.delta' | 'step.restarted'>, isMore: boolean): StreamResponse[] {
    this.iteration = iteration;
    if (text === '' && isMore) return [];
    const artifact = { artifactId: ANSWER, name: ANSWER, parts: [{ text }] };
    return [{ artifactUpdate: { ...this.ofTask, artifact, ...(isMore && { append: true }) } }];
  }

  /** A text before calls is a message of the agent; the text without calls is the answer, which the end has. */
  private complete({ iteration, text, tool_calls: calls }: Event<'message.completed'>, at: number): StreamResponse[] {
    if (calls.length === 0 || text === '') return [];
    const message = this.message(`${this.run.id}:${iteration}`, [{ text }]);
    this.history.push(message);
    return this.update('TASK_STATE_WORKING', at, message);
  }

  private question(wait: ClientWait, { requests }: Event<'run.waiting'>): A2aMessage {
    const id = `${this.run.id}:${requests[0]?.id ?? 'wait'}`;
    if ('calls' in wait)
      return this.message(id, [
        { text: 'The client that started the run executes its calls, with the protocol it uses.' },
      ]);
    const { interrupts } = wait;
    const text = interrupts.map(({ message, reason }) => message ?? reason).join('\n');
    return this.message(id, [{ text }, { data: { interrupts }, mediaType: 'application/json' }]);
  }

  private end(event: TerminalEvent, at: number): StreamResponse[] {
    const { finish_reason, is_complete, usage } = event;
    const failed = event.type === 'run.failed' ? event.error : undefined;
    this.metadata = { jackdaw: { finish_reason, is_complete, usage, ...(failed && { error: failed }) } };
    const answered = event.type === 'run.completed' ? this.finishAnswer(event) : [];
    const message = failed && this.message(`${this.run.id}:end`, [{ text: failed.message }]);
    return [...answered, ...this.update(stateOf(event), at, message, this.metadata)];
  }

  private finishAnswer({ result, output }: TerminalEvent): StreamResponse[] {
    const hasOutput = output !== undefined && output !== null;
    const parts: A2aPart[] = [
      ...(result === '' ? [] : [{ text: result }]),
      ...(hasOutput ? [{ data: output, mediaType: 'application/json' }] : []),
    ];
    if (parts.length === 0) return [];
    this.answer = { artifactId: ANSWER, name: ANSWER, parts };
    return [{ artifactUpdate: { ...this.ofTask, artifact: this.answer, lastChunk: true } }];
  }

  private message(messageId: string, parts: readonly A2aPart[]): A2aMessage {
    return { messageId, role: 'ROLE_AGENT', parts, ...this.place };
  }

  private get ofTask() {
    return { taskId: this.run.id, contextId: this.contextId };
  }
}

function stateOf(event: TerminalEvent): TaskState {
  if (event.type === 'run.completed') return 'TASK_STATE_COMPLETED';
  if (event.type === 'run.cancelled') return 'TASK_STATE_CANCELED';
  return isRefusal(event.error.code) ? 'TASK_STATE_REJECTED' : 'TASK_STATE_FAILED';
}

export function toTime(at: number): string {
  return new Date(at).toISOString();
}
