import type { FakeRequest } from '../fake-llm.types.js';
import { callsIn, schemaNodes, toolsIn, type JsonNode, type SchemaNode, type WireTool } from './request-parts.js';

/** The first name of a tool or of a call that does not match, with its parameter. */
export function wrongName(request: FakeRequest, pattern: RegExp): { param: string; name: string } | undefined {
  const tool = toolsIn(request).find(({ name }) => !pattern.test(name));
  if (tool) return { param: `tools[${tool.at}].function.name`, name: tool.name };
  const found = callsIn(request).find(({ call }) => !pattern.test(call.function.name));
  return found && { param: `messages[${found.at}].tool_calls[0].function.name`, name: found.call.function.name };
}

/** The first tool whose whole schema a test finds wrong. */
export function wrongRoot(
  request: FakeRequest,
  isWrong: (schema: JsonNode) => boolean,
): (WireTool & { schema: JsonNode }) | undefined {
  for (const tool of toolsIn(request)) {
    const schema = tool.parameters ?? {};
    if (isWrong(schema)) return { ...tool, schema };
  }
  return undefined;
}

/** The first schema in a tool that a test finds wrong. */
export function wrongSchema(
  request: FakeRequest,
  isWrong: (found: SchemaNode) => boolean,
): (WireTool & SchemaNode) | undefined {
  for (const tool of toolsIn(request)) {
    const found = schemaNodes(tool.parameters).find(isWrong);
    if (found) return { ...tool, ...found };
  }
  return undefined;
}

/** Keywords that combine schemas, or list values. */
export const UNIONS = ['anyOf', 'oneOf', 'allOf'];
