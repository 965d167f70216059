import { parseJson, type JsonSchema } from '../../../kernel/json/index.js';
import { mayBeJson } from '../json-text.policy.js';
import { escapeText, unescapeText } from './entity.mapper.js';

/** The JSON types that a schema allows; empty if the schema does not restrict them. */
export type ValueTypes = ReadonlySet<string>;

const CDATA = /<!\[CDATA\[([\s\S]*?)(?:\]\]>|$)/gi;
const CDATA_ALONE = /^\s*<!\[CDATA\[/i;
/** Most text is not JSON; this check is faster than parsing. */
const BEGINS_JSON = /^(?:[{["\d-]|(?:true|false|null)$)/;
const PYTHON: Readonly<Record<string, string>> = { True: 'true', False: 'false', None: 'null' };
const COMPOSED = ['anyOf', 'oneOf'] as const;

/** The types of the parameter `name` of a tool with this input schema. */
export function typesOf(inputSchema: JsonSchema | undefined, name: string): ValueTypes {
  const types = new Set<string>();
  const { properties } = inputSchema ?? {};
  if (isRecord(properties) && Object.hasOwn(properties, name)) collectTypes(properties[name], types);
  return types;
}

/**
 * Decodes a value.
 * @param string `true` or `false` if the model stated whether the value is text
 * @returns its JSON text
 */
export function readValue(raw: string, types: ValueTypes, string?: string): string {
  const text = readText(raw);
  const isText = string === 'false' ? false : isTextValue(text, types) || (string === 'true' && types.size === 0);
  return (isText ? undefined : readJson(text)) ?? JSON.stringify(text);
}

/** Encodes a value so that `readValue` returns it again; `string` is the hint that this requires. */
export function writeValue(value: unknown, types: ValueTypes): { readonly text: string; readonly string?: 'false' } {
  if (typeof value === 'string' && (isTextValue(value, types) || readJson(value) === undefined))
    return { text: escapeText(value) };
  const json = JSON.stringify(value);
  const text = escapeText(json);
  return isTextValue(json, types) || readJson(json) !== json ? { text, string: 'false' } : { text };
}

/** JSON stays as written, so that numbers keep all digits. */
function readJson(text: string): string | undefined {
  const json = text.trim();
  if (Object.hasOwn(PYTHON, json)) return PYTHON[json];
  if (!BEGINS_JSON.test(json) || !mayBeJson(json)) return undefined;
  const parsed = parseJson(json);
  // The check of the arguments rejects JSON with a forbidden key, with the reason.
  return parsed.ok || parsed.fault.kind === 'forbidden_key' ? json : undefined;
}

function isTextValue(text: string, types: ValueTypes): boolean {
  if (!types.has('string')) return false;
  const json = text.trim();
  if (json === 'null') return !types.has('null');
  if (json.startsWith('{')) return !types.has('object');
  return !(json.startsWith('[') && types.has('array'));
}

function readText(raw: string): string {
  if (!CDATA_ALONE.test(raw)) return withCdata(raw.replace(/^\r?\n/, '').replace(/\r?\n$/, ''));
  return withCdata(raw.trim());
}

function withCdata(text: string): string {
  if (!text.includes('<!')) return unescapeText(text);
  let result = '';
  let at = 0;
  for (const part of text.matchAll(CDATA)) {
    result += unescapeText(text.slice(at, part.index)) + part[1]!;
    at = part.index + part[0].length;
  }
  return result + unescapeText(text.slice(at));
}

function collectTypes(schema: unknown, types: Set<string>): void {
  if (!isRecord(schema)) return;
  const { type } = schema;
  for (const one of Array.isArray(type) ? type : [type]) if (typeof one === 'string') types.add(one);
  for (const one of valuesOf(schema)) types.add(one === null ? 'null' : typeof one);
  for (const key of COMPOSED) {
    const parts = schema[key];
    if (Array.isArray(parts)) for (const part of parts) collectTypes(part, types);
  }
}

function valuesOf(schema: Readonly<Record<string, unknown>>): readonly unknown[] {
  if (schema['type'] !== undefined) return [];
  if (Array.isArray(schema['enum'])) return schema['enum'];
  return 'const' in schema ? [schema['const']] : [];
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
