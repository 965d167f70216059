import type { ExactInteger } from './exact-json.parser.js';

export type JsonValue = string | number | boolean | null | ExactInteger | JsonValue[] | { [key: string]: JsonValue };

/** A JSON Schema (2020-12) as plain data. */
export type JsonSchema = { readonly [key: string]: unknown };
