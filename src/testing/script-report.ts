import type { ChatRequest, Message } from '../llm/chat/index.js';
import type { RequestMatcher, ScriptedReply, ScriptedReplier } from './script-line.js';
import { mismatches, textOf } from './script-match.js';

/** A line of a script, as the report names it. */
export interface ReportedLine {
  /** Its position in the script, from 1. */
  readonly number: number;
  readonly when: RequestMatcher | undefined;
  readonly reply: ScriptedReply | ScriptedReplier;
}

/** Longest shown part of a text, in UTF-16 units. */
const SHOWN = 200;
const LABEL = 13;

/** The request that no line answers, and the differences to each unused line. */
export function unexpectedRequest(number: number, request: ChatRequest, unused: readonly ReportedLine[]): string {
  const differences = unused.flatMap(({ number: at, when }) => [
    `    line ${at}`,
    ...mismatches(when, request).flatMap(({ part, expected, actual }) => [
      `      - ${part}: ${cut(expected)}`,
      `      + ${part}: ${cut(actual)}`,
    ]),
  ]);
  return [
    `Model request ${number} is unexpected: ${unused.length === 0 ? 'the script has no line left' : 'no line of the script matches'}.`,
    '  request',
    ...requestLines(request),
    ...(differences.length > 0 ? ['  unused lines: - expected, + received', ...differences] : []),
  ].join('\n');
}

/** The lines that no request used, and the requests that arrived. */
export function unusedLines(unused: readonly ReportedLine[], requests: readonly ChatRequest[]): string {
  const shown = unused.map(
    ({ number, when, reply }) =>
      `  - line ${number}${when === undefined ? '' : ` (${whenOf(when)})`}: ${cut(replyOf(reply))}`,
  );
  const asked = requests.map((request, at) => `  + request ${at + 1}: ${cut(lastOf(request))}`);
  return [
    `${unused.length} of the script's lines had no request: - expected, + received.`,
    ...shown,
    ...(asked.length > 0 ? asked : ['  + no request']),
  ].join('\n');
}

function requestLines({ messages, tools = [] }: ChatRequest): string[] {
  const names = tools.map(({ name }) => name).join(', ');
  return [
    ...messages.map((message) => `    ${label(message).padEnd(LABEL)}${cut(contentOf(message))}`),
    ...(names === '' ? [] : [`    ${'tools'.padEnd(LABEL)}${cut(names)}`]),
  ];
}

function label(message: Message): string {
  return message.role === 'tool' ? `tool ${message.name}` : message.role;
}

function contentOf(message: Message): string {
  const calls = message.role === 'assistant' ? (message.toolCalls ?? []) : [];
  const text = textOf(message) ?? '';
  return [...(text === '' && calls.length > 0 ? [] : [text]), ...calls.map(callText)].join(' ');
}

function callText({ name, arguments: args }: { readonly name: string; readonly arguments?: unknown }): string {
  return `${name}(${typeof args === 'string' ? args : JSON.stringify(args ?? {})})`;
}

function lastOf({ messages }: ChatRequest): string {
  const last = messages.at(-1);
  return last ? `${label(last)} ${contentOf(last)}` : '(no message)';
}

function whenOf(when: RequestMatcher): string {
  if (typeof when === 'string' || when instanceof RegExp) return `when text ${String(when)}`;
  if (typeof when === 'function') return `when ${String(when)}`;
  return `when ${Object.entries(when)
    .map(([part, value]) => `${part} ${String(value)}`)
    .join(', ')}`;
}

function replyOf(reply: ScriptedReply | ScriptedReplier): string {
  if (typeof reply === 'string') return JSON.stringify(reply);
  if (typeof reply === 'function') return 'a function';
  if (reply instanceof Error) return String(reply);
  if ('message' in reply) return contentOf(reply.message);
  if (reply.fault !== undefined) return `fault ${reply.fault}`;
  return reply.calls ? reply.calls.map(callText).join(' ') : JSON.stringify(reply.pieces?.join('') ?? reply.text ?? '');
}

function cut(text: string): string {
  const line = text.replaceAll('\n', '⏎');
  return line.length > SHOWN ? `${line.slice(0, SHOWN)}… (${line.length} characters)` : line;
}
