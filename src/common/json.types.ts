export type JsonValue = string | number | boolean | null | JsonValue[] | { [key: string]: JsonValue };

/** A JSON Schema (2020-12) as plain data. */
export type JsonSchema = { readonly [key: string]: unknown };
