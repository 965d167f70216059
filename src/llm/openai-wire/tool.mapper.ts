import type { ChatCompletionFunctionTool } from 'openai/resources/chat/completions';
import type { ToolSpec } from '../chat.types.js';

/** Cache: an agent passes the same array with every call. */
const mapped = new WeakMap<readonly ToolSpec[], ChatCompletionFunctionTool[]>();
const texts = new WeakMap<readonly ChatCompletionFunctionTool[], string>();

/** Converts tools to the wire format; returns the same array for the same array. */
export function toWireTools(tools: readonly ToolSpec[]): ChatCompletionFunctionTool[] {
  const known = mapped.get(tools);
  if (known) return known;
  const wire = tools.map(toWireTool);
  mapped.set(tools, wire);
  return wire;
}

/** The JSON of a converted array, cached. */
export function toToolsJson(tools: readonly ChatCompletionFunctionTool[]): string {
  const known = texts.get(tools);
  if (known !== undefined) return known;
  const text = JSON.stringify(tools);
  texts.set(tools, text);
  return text;
}

function toWireTool(tool: ToolSpec): ChatCompletionFunctionTool {
  return {
    type: 'function',
    function: { name: tool.name, description: tool.description, parameters: tool.inputSchema },
  };
}
