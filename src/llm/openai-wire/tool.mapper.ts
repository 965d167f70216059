import type { ChatCompletionFunctionTool } from 'openai/resources/chat/completions';
import type { ToolSpec } from '../chat.types.js';
import { toWellFormedJson } from '../wire/well-formed-json.mapper.js';

/** Cache: an agent passes the same array with every call. */
const mapped = new WeakMap<readonly ToolSpec[], ChatCompletionFunctionTool[]>();
const texts = new WeakMap<readonly ChatCompletionFunctionTool[], string>();

/** Converts fitted tools to the wire format; returns the same array for the same array. */
export function toWireTools(tools: readonly ToolSpec[]): ChatCompletionFunctionTool[] {
  let wire = mapped.get(tools);
  if (!wire) mapped.set(tools, (wire = tools.map(toWireTool)));
  return wire;
}

/** The JSON of a converted array, cached. */
export function toToolsJson(tools: readonly ChatCompletionFunctionTool[]): string {
  const known = texts.get(tools);
  if (known !== undefined) return known;
  const text = toWellFormedJson(tools);
  texts.set(tools, text);
  return text;
}

function toWireTool({ name, description, inputSchema }: ToolSpec): ChatCompletionFunctionTool {
  return { type: 'function', function: { name, description, parameters: inputSchema } };
}
