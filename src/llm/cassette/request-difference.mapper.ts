import type { Message } from '../chat/message.types.js';
import type { RecordedRequest } from './recorded-request.mapper.js';

/** Longest shown part of a line, in UTF-16 units. */
const SHOWN = 200;

/** The lines that differ: `-` only recorded, `+` only requested. */
export function differenceOf(recorded: RecordedRequest, requested: RecordedRequest): string {
  const [former, present] = [linesOf(recorded), linesOf(requested)];
  const removed = without(former, present).map((line) => `  - ${cut(line)}`);
  const added = without(present, former).map((line) => `  + ${cut(line)}`);
  return [...removed, ...added].join('\n') || '  (the order of lines)';
}

/** The number of lines that both have. */
export function likeness(one: RecordedRequest, other: RecordedRequest): number {
  const lines = linesOf(one);
  return lines.length - without(lines, linesOf(other)).length;
}

function linesOf({ model, messages, tools = [], ...settings }: RecordedRequest): string[] {
  return [
    `model ${model}`,
    ...Object.entries(settings).map(([name, value]) => `${name} ${JSON.stringify(value)}`),
    ...tools.flatMap(({ name, description, inputSchema }) => [
      `tool ${name}: ${description}`,
      `tool ${name}: ${JSON.stringify(inputSchema)}`,
    ]),
    ...messages.flatMap(linesOfMessage),
  ];
}

function linesOfMessage(message: Message): string[] {
  const { role, content, ...rest } = message;
  const text = typeof content === 'string' ? content : JSON.stringify(content);
  const more = Object.entries(rest).map(([name, value]) => `${role} ${name} ${JSON.stringify(value)}`);
  return [...text.split('\n').map((line) => `${role}: ${line}`), ...more];
}

/** The lines of the first list that the second one lacks; equal lines count one by one. */
function without(lines: readonly string[], others: readonly string[]): string[] {
  const left = new Map<string, number>();
  for (const line of others) left.set(line, (left.get(line) ?? 0) + 1);
  return lines.filter((line) => {
    const count = left.get(line) ?? 0;
    left.set(line, count - 1);
    return count <= 0;
  });
}

function cut(line: string): string {
  return line.length > SHOWN ? `${line.slice(0, SHOWN)}… (${line.length} characters)` : line;
}
