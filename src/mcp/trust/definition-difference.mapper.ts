import type { Tool as McpTool } from '@modelcontextprotocol/client';
import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { canonicalJson, type JsonValue } from '../../kernel/json/index.js';

/** The parts of a tool that models or its handling depend on. */
export interface PinnedDefinition {
  readonly name: string;
  readonly title?: JsonValue;
  readonly description?: JsonValue;
  readonly inputSchema?: JsonValue;
  readonly outputSchema?: JsonValue;
  readonly annotations?: JsonValue;
}

export function pinnedOf({
  name,
  title,
  description,
  inputSchema,
  outputSchema,
  annotations,
}: McpTool): PinnedDefinition {
  return JSON.parse(
    canonicalJson({ name, title, description, inputSchema, outputSchema, annotations }),
  ) as PinnedDefinition;
}

/** SHA-256 (hex) of its canonical JSON; the order of members does not matter. */
export function digestOf(definition: PinnedDefinition): string {
  return createHash('sha256').update(canonicalJson(definition)).digest('hex');
}

/** A difference of two definitions. Wire format. */
export interface DefinitionDifference {
  /** JSON pointer (RFC 6901). */
  readonly at: string;
  /** JSON text of at most 500 characters; absent if only the other definition has the value. */
  readonly before?: string;
  readonly after?: string;
}

const MAX_DIFFERENCES = 50;
const MAX_VALUE_LENGTH = 500;

/** The first 50 differences; lists are compared as a whole. @param before `null` for a new tool */
export function differencesOf(before: PinnedDefinition | null, after: PinnedDefinition): DefinitionDifference[] {
  const found: DefinitionDifference[] = [];
  compare(before ?? {}, after, '', found);
  return found;
}

function compare(before: unknown, after: unknown, at: string, found: DefinitionDifference[]): void {
  if (found.length >= MAX_DIFFERENCES || isDeepStrictEqual(before, after)) return;
  if (!isMembers(before) || !isMembers(after)) {
    found.push({ at, ...textOf('before', before), ...textOf('after', after) });
    return;
  }
  for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
    compare(before[key], after[key], `${at}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`, found);
  }
}

function isMembers(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function textOf(name: 'before' | 'after', value: unknown): object {
  if (value === undefined) return {};
  const text = JSON.stringify(value);
  return { [name]: text.length > MAX_VALUE_LENGTH ? `${text.slice(0, MAX_VALUE_LENGTH)}…` : text };
}
