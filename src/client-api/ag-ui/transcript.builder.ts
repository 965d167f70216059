import type { AgUiEvent } from './ag-ui-event.types.js';
import type { AgUiMessage } from './ag-ui-input.schema.js';

type Stored = { -readonly [Member in keyof AgUiMessage]: AgUiMessage[Member] };

/** The messages of a thread, as a client has them after the events so far. */
export class TranscriptBuilder {
  private readonly list: Stored[];

  /** @param messages of the request */
  constructor(messages: readonly AgUiMessage[]) {
    this.list = [...messages];
  }

  get messages(): readonly AgUiMessage[] {
    return this.list;
  }

  apply(event: AgUiEvent): void {
    const { type } = event;
    if (type === 'TEXT_MESSAGE_START' || type === 'REASONING_MESSAGE_START')
      this.list.push({ id: event.messageId, role: event.role, content: '' });
    else if (type === 'TEXT_MESSAGE_CONTENT' || type === 'REASONING_MESSAGE_CONTENT')
      this.addText(event.messageId, event.delta);
    else if (type === 'TOOL_CALL_START') this.addCall(event);
    else if (type === 'TOOL_CALL_ARGS') this.addArguments(event.toolCallId, event.delta);
    else if (type === 'TOOL_CALL_RESULT') this.addResult(event);
  }

  private addText(id: string, delta: string): void {
    const message = this.find(id);
    if (message) message.content = `${String(message.content)}${delta}`;
  }

  private find(id: string): Stored | undefined {
    return this.list.findLast((message) => message.id === id);
  }

  private addCall({
    toolCallId,
    toolCallName,
    parentMessageId,
  }: Extract<AgUiEvent, { type: 'TOOL_CALL_START' }>): void {
    const call = { id: toolCallId, type: 'function', function: { name: toolCallName, arguments: '' } } as const;
    const parent = this.find(parentMessageId);
    if (parent) parent.toolCalls = [...(parent.toolCalls ?? []), call];
    else this.list.push({ id: parentMessageId, role: 'assistant', toolCalls: [call] });
  }

  private addArguments(callId: string, delta: string): void {
    const owner = this.ownerOf(callId);
    if (!owner?.toolCalls) return;
    owner.toolCalls = owner.toolCalls.map((call) => {
      if (call.id !== callId) return call;
      return { ...call, function: { ...call.function, arguments: call.function.arguments + delta } };
    });
  }

  /** After its call, and the results of other calls of the same message. */
  private addResult({
    messageId: id,
    toolCallId,
    content,
    role,
  }: Extract<AgUiEvent, { type: 'TOOL_CALL_RESULT' }>): void {
    const owner = this.ownerOf(toolCallId);
    let at = owner ? this.list.indexOf(owner) + 1 : this.list.length;
    while (at < this.list.length && this.list[at]?.role === 'tool') at++;
    this.list.splice(at, 0, { id, role, toolCallId, content });
  }

  private ownerOf(callId: string): Stored | undefined {
    return this.list.findLast(({ toolCalls }) => toolCalls?.some(({ id }) => id === callId));
  }
}
