import type { Message } from '../llm/chat/index.js';
import { areArgumentsChanged, withEditNote } from '../reasoning/index.js';
import type { RunEvent } from '../run/event/index.js';
import type { ToolResult } from '../tool/index.js';
import { failedResult, toolResultText } from '../tool/result/index.js';

type Event<Type extends RunEvent['type']> = Extract<RunEvent, { type: Type }>;

/** A turn built from the events of its run; every call has one result. */
export interface OutdatedTurn {
  readonly messages: readonly Message[];
  /** Results to emit for calls that have none. */
  readonly closing: readonly Event<'tool.completed'>[];
}

/**
 * Builds the turn of a run that cannot be replayed, from its events.
 * @param maxResultBytes maximum size of edited arguments in the note of a result, in UTF-8 bytes
 */
export function outdatedTurn(question: Message, published: readonly RunEvent[], maxResultBytes: number): OutdatedTurn {
  const messages: Message[] = [question];
  const closing: Event<'tool.completed'>[] = [];
  for (const event of published) {
    if (event.type !== 'message.completed') continue;
    const { iteration, text, tool_calls } = event;
    const toolCalls = tool_calls.map(({ id, name, arguments: args }) => ({ id, name, arguments: args }));
    messages.push({ role: 'assistant', content: text, ...(toolCalls.length > 0 && { toolCalls }) });
    for (const { id, name, arguments: written } of toolCalls) {
      const isThis = (one: { iteration: number; call_id: string }) => one.iteration === iteration && one.call_id === id;
      const completed = published.find((one) => one.type === 'tool.completed' && isThis(one));
      const started = published.find((one) => one.type === 'tool.started' && isThis(one)) as
        Event<'tool.started'> | undefined;
      const open = openResult(name, started !== undefined);
      if (!completed) closing.push({ type: 'tool.completed', iteration, call_id: id, ...open });
      const result = completed ? (completed as unknown as ToolResult) : open;
      const plain = toolResultText(result);
      const isEdited = started !== undefined && areArgumentsChanged(written, started.arguments);
      const content = isEdited ? withEditNote(plain, started.arguments, maxResultBytes) : plain;
      messages.push({ role: 'tool', toolCallId: id, name, content });
    }
  }
  return { messages, closing };
}

function openResult(tool: string, isStarted: boolean): ReturnType<typeof failedResult> {
  return isStarted
    ? failedResult(tool, 'TOOL_OUTCOME_UNKNOWN', 'The outcome is unknown: the run was interrupted and cannot resume.')
    : failedResult(tool, 'TOOL_CANCELLED', 'Not executed: the run was interrupted and cannot resume.');
}
