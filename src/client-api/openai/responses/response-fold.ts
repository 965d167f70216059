import { toErrorCode } from '../../../agent/answer/index.js';
import { AppError } from '../../../errors/index.js';
import type { WaitingRequest } from '../../../run/decision/index.js';
import { NO_USAGE, type RunEvent, type RunItem } from '../../../run/event/index.js';
import { addUsage } from '../../../run/usage/index.js';
import { toClientCallId } from '../../client-call-id.js';
import { waitingText } from '../../waiting-text.mapper.js';
import { ResponseMessages } from './response-messages.js';
import { START, toCall } from './response-items.js';
import type { OutputItem, ResponseEvent, ResponseState, ResponseStatus } from './response.types.js';

type Event<Type extends RunEvent['type']> = Extract<RunEvent, { type: Type }>;
type ItemOf<Type extends OutputItem['type']> = Extract<OutputItem, { type: Type }>;

export interface FoldOptions {
  readonly runId: string;
  /** Number of the event before the response. */
  readonly after: number;
  /** The tools that the client executes. */
  readonly clientTools: ReadonlySet<string>;
  readonly onWaiting: 'message' | 'error';
  /** Whether only the result is the answer, as of a workflow. */
  readonly isResultOnly: boolean;
  /** Sequence number of the last event that the client has; its later events follow. */
  readonly startingAfter?: number | undefined;
  /** Whether the event may have changed something. */
  readonly mayHaveEffect: (event: RunEvent) => boolean;
  /** Builds the response that some events contain. */
  readonly toResponse: (state: ResponseState) => object;
}

/**
 * The events of a response from those of its run. The sequence number of an event follows from its place in the journal, so
 * that another process continues the same stream.
 */
export class ResponseFold extends ResponseMessages {
  private status: ResponseStatus = 'queued';
  private usage = NO_USAGE;
  private createdAt: number | null = null;
  private completedAt: number | null = null;
  private incompleteReason: string | null = null;
  private error: ResponseState['error'] = null;
  private isRetryable = false;
  private hasEffect = false;
  /** Reasoning of the current reply, with the numbers of its events. */
  private readonly thoughts: { readonly n: number; readonly text: string }[] = [];
  /** Indexes of the items of open calls, by iteration and call id. */
  private readonly calls = new Map<string, number>();

  constructor(private readonly options: FoldOptions) {
    super(options);
  }

  get state(): ResponseState {
    const { status, output, usage, createdAt, completedAt, incompleteReason, error } = this;
    return { status, output: [...output], usage, createdAt, completedAt, incompleteReason, error };
  }

  /** The error of a failed run, for a client whose response has not started. */
  get failure(): AppError | null {
    if (!this.error) return null;
    const { error, isRetryable, hasEffect } = this;
    const details = { run_id: this.options.runId, ...(hasEffect && { has_effect: true }) };
    return new AppError(toErrorCode(error.code), error.message, { isRetryable, details });
  }

  get isOver(): boolean {
    return this.status !== 'queued' && this.status !== 'in_progress';
  }

  /** The events that open the response. @param at time of its first event, epoch ms */
  start(at: number): readonly ResponseEvent[] {
    this.createdAt = at;
    this.next = START;
    const created = this.withResponse('created');
    this.status = 'in_progress';
    return [created, this.withResponse('in_progress')];
  }

  take({ n, at, event }: RunItem): readonly ResponseEvent[] {
    this.createdAt ??= at;
    this.hasEffect ||= this.options.mayHaveEffect(event);
    if (n !== null) [this.last, this.next] = [n, 0];
    this.status = 'in_progress';
    switch (event.type) {
      case 'message.delta':
      case 'step.restarted':
        return this.options.isResultOnly ? [] : this.stream(event);
      case 'message.completed':
        return [...(this.options.isResultOnly ? [] : this.complete(event)), ...this.reason()];
      case 'thought':
        this.thoughts.push({ n: this.last, text: event.text });
        return [];
      case 'tool.started':
        return this.begin(event);
      case 'tool.completed':
        return this.finish(event);
      case 'usage':
        this.usage = addUsage(this.usage, event);
        return [];
      case 'run.waiting':
        return this.wait(event, at);
      case 'run.completed':
        return this.conclude(event, at);
      case 'run.failed':
        this.isRetryable = event.error.is_retryable;
        return this.fail(event.error.code, event.error.message, at, 'failed');
      case 'run.cancelled':
        return this.fail('RUN_CANCELLED', `Run "${event.run_id}" was cancelled.`, at, 'cancelled');
      case 'run.started':
      case 'run.resumed':
      case 'step.started':
      case 'tool.progress':
      case 'state.changed':
      case 'policy.decided':
      case 'node.started':
      case 'node.completed':
      case 'model.switched':
      case 'model.cached':
      case 'context.compacted':
      case 'history.repaired':
      case 'stream.closed':
        return [];
    }
  }

  /** Reasoning follows its message: live text may arrive before it, and the order must be that of the stored response. */
  private reason(): readonly ResponseEvent[] {
    return this.thoughts.splice(0).flatMap(({ n, text }) => this.summarise(n, text));
  }

  private summarise(n: number, text: string): readonly ResponseEvent[] {
    const part = { type: 'summary_text' as const, text };
    const item: OutputItem = { type: 'reasoning', id: this.itemId('rs', n), summary: [part] };
    return this.whole(item, { ...item, summary: [] }, [
      ['reasoning_summary_part.added', { summary_index: 0, part: { ...part, text: '' } }],
      ['reasoning_summary_text.delta', { summary_index: 0, delta: text }],
      ['reasoning_summary_text.done', { summary_index: 0, text }],
      ['reasoning_summary_part.done', { summary_index: 0, part }],
    ]);
  }

  private begin(event: Event<'tool.started'>): readonly ResponseEvent[] {
    const { iteration, call_id: callId, tool, arguments: args } = event;
    const key = `${iteration}:${callId}`;
    if (this.options.clientTools.has(tool) || this.calls.has(key)) return [];
    const id = this.itemId('mcp', this.last);
    const item = toCall(id, tool, args, { status: 'in_progress', output: null, error: null });
    const index = this.output.push(item) - 1;
    this.calls.set(key, index);
    const place = { item_id: id, output_index: index };
    return [
      this.event('output_item.added', { output_index: index, item: { ...item, arguments: '' } }),
      this.event('mcp_call.in_progress', place),
      this.event('mcp_call_arguments.done', { ...place, arguments: args }),
    ];
  }

  private finish(event: Event<'tool.completed'>): readonly ResponseEvent[] {
    const { iteration, call_id: callId, tool, success, result, error = null } = event;
    if (this.options.clientTools.has(tool)) return [];
    const started = { type: 'tool.started', iteration, call_id: callId, tool, arguments: '{}' } as const;
    const begun = this.begin(started);
    const key = `${iteration}:${callId}`;
    const index = this.calls.get(key)!;
    this.calls.delete(key);
    const { id, arguments: args } = this.output[index] as ItemOf<'mcp_call'>;
    const output = success ? (typeof result === 'string' ? result : JSON.stringify(result ?? null)) : null;
    const item = toCall(id, tool, args, { status: success ? 'completed' : 'failed', output, error });
    this.output[index] = item;
    const place = { item_id: id, output_index: index };
    return [
      ...begun,
      this.event(success ? 'mcp_call.completed' : 'mcp_call.failed', place),
      this.event('output_item.done', { output_index: index, item }),
    ];
  }

  private conclude({ result, finish_reason: reason }: Event<'run.completed'>, at: number): readonly ResponseEvent[] {
    const said = this.options.isResultOnly && result !== '' ? this.say(result) : [];
    const closed = [...said, ...this.closeAll()];
    const isShort = reason === 'length' || reason === 'iteration_limit';
    if (isShort) this.incompleteReason = 'max_output_tokens';
    if (reason === 'content_filter') this.incompleteReason = 'content_filter';
    return [...closed, this.over(this.incompleteReason === null ? 'completed' : 'incomplete', at)];
  }

  private fail(
    code: string,
    message: string,
    at: number,
    status: Extract<ResponseStatus, 'failed' | 'cancelled'>,
  ): readonly ResponseEvent[] {
    const closed = this.closeAll();
    this.error = { code, message };
    return [...closed, this.over(status, at)];
  }

  private wait({ requests }: Event<'run.waiting'>, at: number): readonly ResponseEvent[] {
    const closed = this.closeAll();
    const asked = requests.filter(({ by_client: isByClient, kind }) => isByClient || kind === 'approval');
    const other = requests.length - asked.length;
    const events = asked.flatMap((request) => (request.by_client ? this.callOut(request) : this.askFor(request)));
    if (asked.length > 0) return [...closed, ...events, this.over('completed', at)];
    const text = waitingText(this.options.runId, requests);
    if (other > 0 && this.options.onWaiting === 'error')
      return [...closed, ...this.fail('RUN_WAITING', text, at, 'failed')];
    return [...closed, ...this.say(text), this.over('completed', at)];
  }

  private callOut({ step, tool: name, arguments: args }: WaitingRequest): readonly ResponseEvent[] {
    const callId = toClientCallId({ runId: this.options.runId, step });
    const call = { type: 'function_call', id: callId.replace('call_', 'fc_'), call_id: callId, name } as const;
    const item: OutputItem = { ...call, arguments: args, status: 'completed' };
    return this.whole(item, { ...call, arguments: '', status: 'in_progress' }, [
      ['function_call_arguments.delta', { delta: args }],
      ['function_call_arguments.done', { name, arguments: args }],
    ]);
  }

  private askFor({ step, tool: name, arguments: args }: WaitingRequest): readonly ResponseEvent[] {
    const id = toClientCallId({ runId: this.options.runId, step }, 'mcpr');
    const item: OutputItem = { type: 'mcp_approval_request', id, server_label: 'jackdaw', name, arguments: args };
    return this.whole(item, item, []);
  }

  /** Ends open items: their results come with a later response, or never. */
  private closeAll(): readonly ResponseEvent[] {
    const open = [...this.calls.values()];
    this.calls.clear();
    const events = open.map((index) => {
      const item = { ...(this.output[index] as ItemOf<'mcp_call'>), status: 'incomplete' as const };
      this.output[index] = item;
      return this.event('output_item.done', { output_index: index, item });
    });
    if (!this.message) return [...events, ...this.reason()];
    const { index } = this.message;
    const item = { ...(this.output[index] as ItemOf<'message'>), status: 'incomplete' as const };
    this.output[index] = item;
    this.message = null;
    return [...events, this.event('output_item.done', { output_index: index, item }), ...this.reason()];
  }

  private over(status: Exclude<ResponseStatus, 'queued' | 'in_progress'>, at: number): ResponseEvent {
    this.status = status;
    this.completedAt = at;
    return this.withResponse(status === 'cancelled' ? 'failed' : status);
  }

  private withResponse(type: string): ResponseEvent {
    return this.event(type, { response: this.options.toResponse(this.state) });
  }
}
