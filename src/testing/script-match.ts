import type { ChatRequest, Message } from '../llm/chat/index.js';
import type { RequestMatcher, RequestPattern } from './script-line.js';

/** A part of a request that differs from the pattern. */
export interface Mismatch {
  readonly part: string;
  readonly expected: string;
  readonly actual: string;
}

/** The differences between a request and a matcher; none if it matches. */
export function mismatches(when: RequestMatcher | undefined, request: ChatRequest): readonly Mismatch[] {
  if (when === undefined) return [];
  if (typeof when === 'function')
    return when(request) ? [] : [{ part: 'when', expected: String(when), actual: 'false' }];
  return ofPattern(typeof when === 'string' || when instanceof RegExp ? { text: when } : when, request);
}

function ofPattern(pattern: RequestPattern, { messages, tools = [] }: ChatRequest): readonly Mismatch[] {
  const last = messages.at(-1);
  return [
    ...compare('text', pattern.text, textOf(messages.findLast(({ role }) => role === 'user'))),
    ...compare('instructions', pattern.instructions, textOf(messages.find(({ role }) => role === 'system'))),
    ...compare('result', pattern.result, last?.role === 'tool' ? textOf(last) : undefined),
    ...offers(
      pattern.tool,
      tools.map(({ name }) => name),
    ),
  ];
}

function offers(tool: string | undefined, names: readonly string[]): Mismatch[] {
  if (tool === undefined || names.includes(tool)) return [];
  return [{ part: 'tool', expected: tool, actual: names.join(', ') || '(none)' }];
}

/** The text of a message; parts that are no text are named. */
export function textOf(message: Message | undefined): string | undefined {
  if (message === undefined) return undefined;
  const { content } = message;
  if (typeof content === 'string') return content;
  return content.map((part) => (part.type === 'text' ? part.text : `[${part.type}]`)).join('');
}

function compare(part: string, wanted: string | RegExp | undefined, actual: string | undefined): Mismatch[] {
  if (wanted === undefined) return [];
  const isMatch = actual !== undefined && (typeof wanted === 'string' ? actual.includes(wanted) : isIn(wanted, actual));
  return isMatch ? [] : [{ part, expected: shown(wanted), actual: actual === undefined ? '(none)' : shown(actual) }];
}

/** Without the state of a global expression. */
function isIn(pattern: RegExp, text: string): boolean {
  return new RegExp(pattern.source, pattern.flags.replace(/[gy]/g, '')).test(text);
}

function shown(value: string | RegExp): string {
  return typeof value === 'string' ? JSON.stringify(value) : String(value);
}
