import type { RunEvent } from '../../run/event/index.js';
import { findCall, toClientCallId } from '../client-call-id.js';
import type { AgUiEvent } from './ag-ui-event.types.js';
import { messageId, resultId } from './ag-ui-id.js';

type Event<Type extends RunEvent['type']> = Extract<RunEvent, { type: Type }>;

const NO_RESULT = 'The run ended before this call had a result.';

/** The calls of a run: each is announced once, with its message, and has at most one result. */
export class ToolCallBuilder {
  /** The ids of calls for the client, by iteration and the id of the model. */
  private readonly ids = new Map<string, string>();
  /** Announced calls without a result. */
  private readonly open = new Set<string>();

  /** @param answered calls whose results the client has */
  constructor(
    private readonly runId: string,
    private readonly answered: ReadonlySet<string>,
  ) {}

  /** @param parentId the message of the calls */
  announce({ iteration, tool_calls: calls }: Event<'message.completed'>, parentId: string): AgUiEvent[] {
    return calls.flatMap(({ id, name, arguments: args }, at) => {
      const callId = toClientCallId({ runId: this.runId, step: `tool:${iteration}:${at + 1}` });
      this.ids.set(key(iteration, id), callId);
      return this.start(callId, { name, args, parentId });
    });
  }

  /** A call without a message of the model. */
  started({ iteration, call_id: id, tool: name, arguments: args }: Event<'tool.started'>): AgUiEvent[] {
    if (this.ids.has(key(iteration, id))) return [];
    const callId = this.idOf(iteration, id);
    this.ids.set(key(iteration, id), callId);
    return this.start(callId, { name, args, parentId: messageId(callId, iteration, 1) });
  }

  completed(event: Event<'tool.completed'>): AgUiEvent[] {
    const callId = this.idOf(event.iteration, event.call_id);
    if (!this.open.delete(callId)) return [];
    return this.answered.has(callId) ? [] : [toResult(callId, resultText(event))];
  }

  /** Calls that another response has announced. */
  learn(event: RunEvent): void {
    if (event.type === 'message.completed') this.announce(event, '');
    else if (event.type === 'tool.started') this.started(event);
    else if (event.type === 'tool.completed') this.completed(event);
  }

  /** Gives a result to each call without one: a client could send no valid history otherwise. */
  end(): AgUiEvent[] {
    const calls = [...this.open].filter((callId) => !this.answered.has(callId));
    this.open.clear();
    return calls.map((callId) => toResult(callId, NO_RESULT));
  }

  idOf(iteration: number, callId: string): string {
    return findCall(callId, (id) => this.ids.get(key(iteration, id))) ?? `call_${this.runId}_${iteration}_${callId}`;
  }

  private start(
    toolCallId: string,
    { name, args, parentId }: { readonly name: string; readonly args: string; readonly parentId: string },
  ): AgUiEvent[] {
    this.open.add(toolCallId);
    return [
      { type: 'TOOL_CALL_START', toolCallId, toolCallName: name, parentMessageId: parentId },
      ...(args === '' ? [] : [{ type: 'TOOL_CALL_ARGS' as const, toolCallId, delta: args }]),
      { type: 'TOOL_CALL_END', toolCallId },
    ];
  }
}

function key(iteration: number, callId: string): string {
  return `${iteration}/${callId}`;
}

function toResult(toolCallId: string, content: string): AgUiEvent {
  return { type: 'TOOL_CALL_RESULT', messageId: resultId(toolCallId), toolCallId, content, role: 'tool' };
}

function resultText({ success, result, error = '' }: Event<'tool.completed'>): string {
  if (!success) return `Error: ${error}`;
  return typeof result === 'string' ? result : JSON.stringify(result ?? null);
}
