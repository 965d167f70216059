import type { Message, RunEvent, RunFailure, Usage, WaitingRequest } from './types';

/** A tool call in an answer. */
export interface Call {
  readonly id: string;
  readonly tool: string;
  readonly arguments: string;
  readonly state: 'running' | 'ok' | 'error';
  readonly result?: unknown;
  readonly error?: string;
  readonly ms?: number;
  readonly progress?: string;
  readonly childRunId?: string;
}

/** A part of an answer, in the order of its start. */
export type Part =
  | { readonly kind: 'text'; readonly iteration: number; readonly text: string; readonly isDone: boolean }
  | { readonly kind: 'thought'; readonly text: string }
  | { readonly kind: 'call'; readonly call: Call }
  | { readonly kind: 'note'; readonly key: string; readonly values: Readonly<Record<string, string>> };

/** The answer of a run, as its events have described it so far. */
export interface Answer {
  readonly runId: string | null;
  readonly sessionId: string | null;
  readonly parts: readonly Part[];
  readonly status: 'running' | 'waiting' | 'completed' | 'failed' | 'cancelled';
  readonly requests: readonly WaitingRequest[];
  readonly error?: RunFailure;
  readonly usage?: Usage;
  readonly model?: string;
  readonly finishReason?: string;
}

export const EMPTY_ANSWER: Answer = { runId: null, sessionId: null, parts: [], status: 'running', requests: [] };

/** Adds an event to an answer. Unknown types change nothing. */
export function applyEvent(answer: Answer, event: RunEvent): Answer {
  switch (event.type) {
    case 'run.started':
      return { ...answer, runId: event.run_id ?? null, sessionId: event.session_id ?? null };
    case 'run.resumed':
      return { ...answer, status: 'running', requests: [] };
    case 'message.delta':
    case 'step.restarted':
    case 'message.completed':
      return withText(answer, event);
    case 'thought':
      return withPart(answer, { kind: 'thought', text: event.text ?? '' });
    case 'tool.started':
      return withCall(answer, event, {
        tool: event.tool ?? '',
        arguments: event.arguments ?? '',
        ...(event.child_run_id !== undefined && { childRunId: event.child_run_id }),
      });
    case 'tool.progress':
      return withCall(answer, event, { progress: progressOf(event) });
    case 'tool.completed':
      return withCall(answer, event, completed(event));
    case 'model.switched':
      return withPart(answer, switched(event));
    case 'run.waiting':
      return { ...answer, status: 'waiting', requests: event.requests ?? [] };
    case 'run.completed':
    case 'run.failed':
    case 'run.cancelled':
      return ended(answer, event);
    default:
      return answer;
  }
}

function switched({ from = '', to = '', code = '' }: RunEvent): Part {
  return { kind: 'note', key: 'note.switched', values: { from, to, code } };
}

function ended(answer: Answer, event: RunEvent): Answer {
  const status = event.type.slice('run.'.length) as Answer['status'];
  const { error, usage, model, finish_reason: finishReason } = event;
  return {
    ...answer,
    status,
    requests: [],
    ...(typeof error === 'object' && { error }),
    ...(usage && { usage }),
    ...(model !== undefined && { model }),
    ...(finishReason !== undefined && { finishReason }),
  };
}

function withPart(answer: Answer, part: Part): Answer {
  return { ...answer, parts: [...answer.parts, part] };
}

function withText(answer: Answer, { type, iteration = 0, text: added = '' }: RunEvent): Answer {
  const at = answer.parts.findLastIndex((part) => part.kind === 'text' && part.iteration === iteration);
  const old = answer.parts[at];
  const text = type === 'message.delta' && old?.kind === 'text' ? old.text + added : added;
  // A message of tool calls alone has no text.
  if (text === '' && at === -1) return answer;
  const part: Part = { kind: 'text', iteration, text, isDone: type === 'message.completed' };
  return at === -1 ? withPart(answer, part) : { ...answer, parts: answer.parts.with(at, part) };
}

function withCall(answer: Answer, event: RunEvent, change: Partial<Call>): Answer {
  const id = event.call_id ?? '';
  const at = answer.parts.findLastIndex((part) => part.kind === 'call' && part.call.id === id);
  const old = answer.parts[at];
  const start: Call = { id, tool: event.tool ?? '', arguments: '', state: 'running' };
  const call: Call = { ...(old?.kind === 'call' ? old.call : start), ...change };
  const part: Part = { kind: 'call', call };
  return at === -1 ? withPart(answer, part) : { ...answer, parts: answer.parts.with(at, part) };
}

function completed({ success, result, error, execution_time_ms: ms }: RunEvent): Partial<Call> {
  return {
    state: success ? 'ok' : 'error',
    ...(result !== undefined && { result }),
    ...(typeof error === 'string' && { error }),
    ...(ms !== undefined && { ms }),
  };
}

function progressOf({ progress = 0, total, message }: RunEvent): string {
  const share = total === undefined ? String(progress) : `${progress} / ${total}`;
  return message === undefined ? share : `${message} (${share})`;
}

/** A question with its answer. */
export interface Exchange {
  /** Unique in the conversation. */
  readonly key: string;
  readonly query: string;
  readonly images: readonly string[];
  readonly answer: Answer;
}

/** The text of a message, which may consist of parts. */
export function textOf({ content }: Message): string {
  if (typeof content === 'string') return content;
  return content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n\n');
}

/** The addresses of the images in a question, or in the result of a tool. */
export function imagesOf({ content, images = [] }: Message): readonly string[] {
  const parts = typeof content === 'string' ? [] : content;
  return [...parts, ...images].flatMap((part) => (part.type === 'image' ? [part.url] : []));
}

/** The exchanges of a session's messages, the oldest first. */
export function toExchanges(messages: readonly Message[]): Exchange[] {
  const exchanges: Exchange[] = [];
  for (const message of messages) {
    const last = exchanges.at(-1);
    if (message.role === 'user' && last?.key !== message.run_id) {
      exchanges.push({
        key: message.run_id,
        query: textOf(message),
        images: imagesOf(message),
        answer: { ...EMPTY_ANSWER, runId: message.run_id, status: statusOf(message.turn_status) },
      });
    } else if (last) exchanges[exchanges.length - 1] = { ...last, answer: withMessage(last.answer, message) };
  }
  return exchanges;
}

function statusOf(turnStatus: string): Answer['status'] {
  return turnStatus === 'failed' || turnStatus === 'cancelled' ? turnStatus : 'completed';
}

function withMessage(answer: Answer, message: Message): Answer {
  const { role, tool_calls, tool_call_id, turn } = message;
  const content = textOf(message);
  if (role === 'tool') {
    const result = { call_id: tool_call_id ?? '' };
    const isError = content.startsWith('Error:');
    return withCall(
      answer,
      { type: '', ...result },
      isError ? { state: 'error', error: content } : { state: 'ok', result: content },
    );
  }
  const parts: Part[] = [];
  if (content !== '')
    parts.push({ kind: 'text', iteration: turn * 1000 + answer.parts.length, text: content, isDone: true });
  for (const { id, name, arguments: text } of tool_calls ?? []) {
    parts.push({ kind: 'call', call: { id, tool: name, arguments: text, state: 'running' } });
  }
  return { ...answer, parts: [...answer.parts, ...parts] };
}
