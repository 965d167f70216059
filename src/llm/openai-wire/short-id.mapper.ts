import { hash } from 'node:crypto';
import type { WireRequestMessage } from './message.mapper.js';

const LENGTH = 9;
const SHORT = /^[a-zA-Z0-9]{9}$/;

/** Replaces call ids by ids of nine letters and digits, which Mistral requires; valid ones stay. */
export function withShortIds(messages: readonly WireRequestMessage[]): WireRequestMessage[] {
  return messages.map((message) => {
    if (message.role === 'tool') return { ...message, tool_call_id: toShortId(message.tool_call_id) };
    if (message.role !== 'assistant' || !message.tool_calls) return message;
    return { ...message, tool_calls: message.tool_calls.map((call) => ({ ...call, id: toShortId(call.id) })) };
  });
}

/** The same id for the same id; different ids practically never collide (62^9 values). */
function toShortId(id: string): string {
  if (SHORT.test(id)) return id;
  return hash('sha256', id, 'base64')
    .replaceAll(/[^a-zA-Z0-9]/g, '')
    .slice(0, LENGTH);
}
