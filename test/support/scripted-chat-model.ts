import type { ChatResult } from '../../src/llm/chat/index.js';
import type { ScriptedReplier } from '../../src/testing/script-line.js';

export { ScriptedModel as ScriptedChatModel } from '../../src/testing/scripted-model.js';

/** A scripted reply or error; a function receives the request and may wait. */
export type Scripted = ChatResult | Error | ScriptedReplier;

const USAGE = { promptTokens: 10, completionTokens: 5, totalTokens: 15 };

/** A reply of the scripted model. */
export function says(content: string, more: Partial<ChatResult> = {}): ChatResult {
  return { message: { role: 'assistant', content }, finishReason: 'stop', usage: USAGE, model: 'scripted-1', ...more };
}

/** A reply that calls tools: `[name, arguments]` each, the arguments as raw text or as a value. */
export function calls(...wanted: readonly (readonly [string, unknown])[]): ChatResult {
  const toolCalls = wanted.map(([name, args], i) => ({
    id: `call_${i}`,
    name,
    arguments: typeof args === 'string' ? args : JSON.stringify(args),
  }));
  return { ...says(''), message: { role: 'assistant', content: '', toolCalls }, finishReason: 'tool_calls' };
}
