import { createHash } from 'node:crypto';
import { canonicalJson, type JsonValue } from '../../common/index.js';
import type { Cache } from '../../cache/index.js';
import { toJsonResult } from '../call/json-result.mapper.js';
import { Suspension } from '../suspension.factory.js';
import type { Tool, ToolContext } from '../tool.types.js';

/**
 * A tool whose results serve again for `ttlMs`: to the same principal with the same roles and arguments only, since a
 * guard of the tool is not asked again.
 */
export function cachedTool(tool: Tool, ttlMs: number, cache: Cache): Tool {
  const invoke = async (input: unknown, context: ToolContext): Promise<unknown> => {
    const key = keyOf(context);
    const known = await cache.get(key);
    if (known !== null) return JSON.parse(known) as JsonValue;
    const returned = await tool.invoke(input, context);
    if (returned instanceof Suspension) return returned;
    const { value } = toJsonResult(returned);
    await cache.set(key, JSON.stringify(value), ttlMs);
    return value;
  };
  return { ...tool, invoke };
}

function keyOf({ tool, principal, arguments: args }: ToolContext): string {
  const text = canonicalJson([tool, principal.tenant, principal.id, principal.roles, args]);
  return `tool:${createHash('sha256').update(text).digest('base64url')}`;
}
