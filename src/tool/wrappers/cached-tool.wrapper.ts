import { createHash } from 'node:crypto';
import { canonicalJson, type JsonValue, parseExactJson } from '../../kernel/json/index.js';
import type { Cache } from '../../cache/index.js';
import { type BinaryMark, toJsonResult } from '../result/json-result.mapper.js';
import { readReturned } from '../call/returned-value.js';
import { IllustratedResult, ShownResult, type ShownText, unfold } from '../result/illustrated-result.factory.js';
import { Suspension, UnknownOutcome } from '../suspension.factory.js';
import type { Tool, ToolContext } from '../tool.types.js';

/**
 * Caches the results of a tool for `ttlMs`. The key includes principal, roles and arguments, since a cached call passes
 * no guard. A result that violates the output schema is neither stored nor returned.
 * @param secrets values to mask in errors inside a result
 */
export function cachedTool(tool: Tool, ttlMs: number, cache: Cache, secrets: readonly string[] = []): Tool {
  const recall = async (context: ToolContext): Promise<{ readonly value: unknown } | undefined> => {
    const known = readEntry(await cache.get(keyOf(context)));
    return known && (await isAllowed(tool, known)) ? { value: fromEntry(known) } : undefined;
  };
  const invoke = async (input: unknown, context: ToolContext): Promise<unknown> => {
    const known = await recall(context);
    if (known) return known.value;
    const returned = await readReturned(tool.invoke(input, context), context.signal);
    if (returned instanceof Suspension || returned instanceof UnknownOutcome) return returned;
    const entry = toEntry(returned, secrets);
    if (await isAllowed(tool, entry)) await cache.set(keyOf(context), JSON.stringify(entry), ttlMs);
    return fromEntry(entry);
  };
  return { ...tool, invoke, recall };
}

/** A result as JSON. */
export interface Entry {
  readonly value: JsonValue;
  readonly images?: readonly string[];
  readonly shown?: ShownText;
  readonly marks?: readonly BinaryMark[];
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

async function isAllowed(tool: Tool, { value }: Entry): Promise<boolean> {
  return (await tool.checkOutput?.(value))?.valid ?? true;
}

export function toEntry(returned: unknown, secrets: readonly string[]): Entry {
  const { value, images, content } = unfold(returned);
  const { value: json, marks = content.marks } = toJsonResult(value, secrets);
  return {
    value: json,
    ...(images.length > 0 && { images }),
    ...(marks && { marks }),
    ...(returned instanceof ShownResult && { shown: returned.shown }),
  };
}

export function fromEntry({ value, images, marks, shown }: Entry): unknown {
  const result = images || marks ? new IllustratedResult(value, images ?? [], marks && { marks }) : value;
  return shown ? new ShownResult(result, shown) : result;
}

function keyOf({ tool, principal, arguments: args }: ToolContext): string {
  const text = canonicalJson([tool, principal.tenant, principal.id, principal.roles, args]);
  return `tool-result:${createHash('sha256').update(text).digest('base64url')}`;
}
