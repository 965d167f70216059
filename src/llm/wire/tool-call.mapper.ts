import { toArgumentsText } from '../call-arguments.mapper.js';
import type { ToolCall } from '../message.types.js';
import { BadReplyError } from './wire-failure.error.js';

/** A tool call as assembled from the wire. */
export interface WireCallParts {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}

/**
 * Normalises tool calls: each gets a name, arguments (at least `{}`), and a unique id (the provider's, else
 * `call_<index>`). In a truncated reply, a call without a name is dropped.
 * @throws BadReplyError for a call without a name in a complete reply
 */
export function toToolCalls(parts: readonly WireCallParts[], isCut: boolean): ToolCall[] {
  const taken = new Set<string>();
  const calls: ToolCall[] = [];
  for (const [index, part] of parts.entries()) {
    if (part.name === '') {
      if (isCut) continue;
      throw new BadReplyError('a tool call without a name');
    }
    const id = freeId(part.id === '' ? `call_${index}` : part.id, taken);
    taken.add(id);
    calls.push({ id, name: part.name, arguments: toArgumentsText(part.arguments) });
  }
  return calls;
}

/** The text of arguments or of a fragment of them; some servers send an object instead of its JSON text. */
export function fragmentText(wire: unknown): string {
  if (typeof wire === 'string') return wire;
  return wire === undefined || wire === null ? '' : JSON.stringify(wire);
}

function freeId(wanted: string, taken: ReadonlySet<string>): string {
  let id = wanted;
  for (let n = 2; taken.has(id); n++) id = `${wanted}_${n}`;
  return id;
}
