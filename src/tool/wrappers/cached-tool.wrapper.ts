import { createHash } from 'node:crypto';
import { canonicalJson, type JsonValue, parseExactJson } from '../../common/index.js';
import type { Cache } from '../../cache/index.js';
import { toJsonResult } from '../call/json-result.mapper.js';
import { IllustratedResult, unfold } from '../illustrated-result.factory.js';
import { Suspension } from '../suspension.factory.js';
import type { Tool, ToolContext } from '../tool.types.js';

/**
 * A tool whose results serve again for `ttlMs`: to the same principal with the same roles and arguments only, since a
 * guard of the tool is not asked again.
 */
export function cachedTool(tool: Tool, ttlMs: number, cache: Cache): Tool {
  const recall = async (context: ToolContext): Promise<{ readonly value: unknown } | undefined> => {
    const known = await cache.get(keyOf(context));
    return known === null ? undefined : { value: fromEntry(parseExactJson(known) as Entry) };
  };
  const invoke = async (input: unknown, context: ToolContext): Promise<unknown> => {
    const known = await recall(context);
    if (known) return known.value;
    const returned = await tool.invoke(input, context);
    if (returned instanceof Suspension) return returned;
    const { value, images } = unfold(returned);
    const entry: Entry = { value: toJsonResult(value).value, ...(images.length > 0 && { images }) };
    await cache.set(keyOf(context), JSON.stringify(entry), ttlMs);
    return fromEntry(entry);
  };
  return { ...tool, invoke, recall };
}

/** A result as the cache has it. */
interface Entry {
  readonly value: JsonValue;
  readonly images?: readonly string[];
}

function fromEntry({ value, images }: Entry): unknown {
  return images ? new IllustratedResult(value, images) : value;
}

function keyOf({ tool, principal, arguments: args }: ToolContext): string {
  const text = canonicalJson([tool, principal.tenant, principal.id, principal.roles, args]);
  return `tool-result:${createHash('sha256').update(text).digest('base64url')}`;
}
