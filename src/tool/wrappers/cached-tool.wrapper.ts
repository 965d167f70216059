import { createHash } from 'node:crypto';
import { canonicalJson, type JsonValue, parseExactJson } from '../../common/index.js';
import type { Cache } from '../../cache/index.js';
import { toJsonResult } from '../call/json-result.mapper.js';
import { IllustratedResult, unfold } from '../illustrated-result.factory.js';
import { Suspension, UnknownOutcome } from '../suspension.factory.js';
import type { Tool, ToolContext } from '../tool.types.js';

/**
 * Caches the results of a tool for `ttlMs`. The key includes principal, roles and arguments, since a cached call passes
 * no guard. A result that violates the output schema is neither stored nor returned.
 */
export function cachedTool(tool: Tool, ttlMs: number, cache: Cache): Tool {
  const recall = async (context: ToolContext): Promise<{ readonly value: unknown } | undefined> => {
    const known = readEntry(await cache.get(keyOf(context)));
    return known && isAllowed(tool, known) ? { value: fromEntry(known) } : undefined;
  };
  const invoke = async (input: unknown, context: ToolContext): Promise<unknown> => {
    const known = await recall(context);
    if (known) return known.value;
    const returned = await tool.invoke(input, context);
    if (returned instanceof Suspension || returned instanceof UnknownOutcome) return returned;
    const { value, images } = unfold(returned);
    const entry: Entry = { value: toJsonResult(value).value, ...(images.length > 0 && { images }) };
    if (isAllowed(tool, entry)) await cache.set(keyOf(context), JSON.stringify(entry), ttlMs);
    return fromEntry(entry);
  };
  return { ...tool, invoke, recall };
}

/** A cached result. */
interface Entry {
  readonly value: JsonValue;
  readonly images?: readonly string[];
}

/** `null` for an entry that is absent or damaged. */
function readEntry(text: string | null): Entry | null {
  try {
    const entry = parseExactJson(text ?? 'null') as Partial<Entry> | null;
    return entry?.value === undefined ? null : (entry as Entry);
  } catch {
    return null;
  }
}

function isAllowed(tool: Tool, { value }: Entry): boolean {
  return tool.checkOutput?.(value).valid ?? true;
}

function fromEntry({ value, images }: Entry): unknown {
  return images ? new IllustratedResult(value, images) : value;
}

function keyOf({ tool, principal, arguments: args }: ToolContext): string {
  const text = canonicalJson([tool, principal.tenant, principal.id, principal.roles, args]);
  return `tool-result:${createHash('sha256').update(text).digest('base64url')}`;
}
