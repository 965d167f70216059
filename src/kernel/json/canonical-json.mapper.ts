import { isRawJson } from './exact-json.parser.js';

/** JSON with the fields of every object sorted by name, without undefined fields. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) => (isPlain(inner) ? ordered(inner) : inner));
}

function isPlain(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isRawJson(value);
}

function ordered(value: Record<string, unknown>): Record<string, unknown> {
  // Without a prototype, so that any field name is safe.
  const fields = Object.create(null) as Record<string, unknown>;
  for (const name of Object.keys(value).toSorted()) fields[name] = value[name];
  return fields;
}
