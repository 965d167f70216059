import type { ToolChoice, ToolSpec } from '../../chat/chat.types.js';
import { type StrictRules, toStrictSchema } from '../../strict-schema.mapper.js';
import type { ToolRules } from '../../tool-schema.mapper.js';

export interface WireTool {
  readonly name: string;
  readonly description?: string;
  readonly input_schema: Readonly<Record<string, unknown>>;
  readonly strict?: true;
}

/** "Property keys should match pattern …" (400 of the API). */
export const TOOL_RULES: ToolRules = { propertyName: /^[a-zA-Z0-9_.-]{1,64}$/ };

/** "20 strict tools per request" (platform.claude.com, "Structured outputs", schema complexity limits). */
const MAX_STRICT = 20;
/** All requests of a model count its optional properties and unions together, so strict tools have none. */
const STRICT: StrictRules = { maxOptional: 0, mayRefer: false };

type Cache = WeakMap<readonly ToolSpec[], readonly WireTool[]>;

/** Cache: an agent passes the same array with every call. Models may share it, and differ in strictness. */
const mapped: Readonly<Record<'strict' | 'plain', Cache>> = { strict: new WeakMap(), plain: new WeakMap() };

/**
 * Converts fitted tools to the wire format; returns the same array for the same array.
 * @param isStrict whether the model enforces schemas that it can
 */
export function toWireTools(tools: readonly ToolSpec[], isStrict: boolean): readonly WireTool[] {
  const known = isStrict ? mapped.strict : mapped.plain;
  let wire = known.get(tools);
  if (!wire) known.set(tools, (wire = toTools(tools, isStrict ? MAX_STRICT : 0)));
  return wire;
}

function toTools(tools: readonly ToolSpec[], maxStrict: number): readonly WireTool[] {
  let rest = maxStrict;
  return tools.map(({ name, description, inputSchema }) => {
    const strict = rest > 0 ? strictSchema(inputSchema) : undefined;
    if (strict) rest--;
    return { name, description, input_schema: strict ?? inputSchema, ...(strict && { strict: true as const }) };
  });
}

function strictSchema(schema: ToolSpec['inputSchema']): ToolSpec['inputSchema'] | undefined {
  const strict = toStrictSchema(schema, STRICT);
  return strict && !/"anyOf":|"type":\[/.test(JSON.stringify(strict)) ? strict : undefined;
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
