import type { ToolChoice, ToolSpec } from '../../chat.types.js';
import type { ToolRules } from '../../tool-schema.mapper.js';

export interface WireTool {
  readonly name: string;
  readonly description?: string;
  readonly input_schema: Readonly<Record<string, unknown>>;
}

/** "Property keys should match pattern …" (400 of the API). */
export const TOOL_RULES: ToolRules = { propertyName: /^[a-zA-Z0-9_.-]{1,64}$/ };

/** Cache: an agent passes the same array with every call. */
const mapped = new WeakMap<readonly ToolSpec[], readonly WireTool[]>();

/** Converts fitted tools to the wire format; returns the same array for the same array. */
export function toWireTools(tools: readonly ToolSpec[]): readonly WireTool[] {
  let wire = mapped.get(tools);
  if (!wire) {
    wire = tools.map(({ name, description, inputSchema }) => ({ name, description, input_schema: inputSchema }));
    mapped.set(tools, wire);
  }
  return wire;
}

/** Placeholder tools for the calls of a history: Anthropic rejects such a history without tools. */
export function standIns(names: readonly string[]): readonly WireTool[] {
  return names.map((name) => ({ name, input_schema: { type: 'object' } }));
}

/** Omits `auto`, the default. */
export function toWireChoice(choice: ToolChoice | undefined): Readonly<Record<string, unknown>> | undefined {
  if (choice === undefined || choice === 'auto') return undefined;
  if (choice === 'none') return { type: 'none' };
  return choice === 'required' ? { type: 'any' } : { type: 'tool', name: choice.name };
}
