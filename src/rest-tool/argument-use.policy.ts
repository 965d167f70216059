import type { JsonSchema } from '../kernel/index.js';

export interface ArgumentUse {
  /** Argument paths used in the URL path. */
  readonly path: readonly (readonly string[])[];
  /** Argument paths used in query, headers or body. */
  readonly elsewhere: readonly (readonly string[])[];
  /** Destination of all other arguments; `undefined` if the declaration leaves none. */
  readonly rest: 'query' | 'body' | undefined;
}

/** Mismatches between a declaration's parameters and their use. Open or composed schemas are not checked. */
export function argumentProblems(schema: JsonSchema, { path, elsewhere, rest }: ArgumentUse): string[] {
  const properties = (schema['properties'] ?? {}) as Readonly<Record<string, JsonSchema>>;
  const isKnown = !['$ref', 'allOf', 'anyOf', 'oneOf', 'patternProperties', 'if'].some((key) => key in schema);
  if (!isKnown || isOpen(schema)) return [];
  const declared = new Set(Object.keys(properties));
  const required = new Set((schema['required'] ?? []) as readonly string[]);
  const used = new Set([...path, ...elsewhere].map(([name]) => name!));
  const isSure = (name: string) => required.has(name) || properties[name]?.['default'] !== undefined;
  const needed = [...new Set(path.map(([name]) => name!))].filter((name) => declared.has(name) && !isSure(name));
  const undeclared = [...used].filter((name) => !declared.has(name));
  const idle = rest === undefined ? [...declared].filter((name) => !used.has(name)) : [];
  return [
    ...undeclared.map((name) => `it uses {${name}}, which is not among its parameters`),
    ...needed.map((name) => `its url needs {${name}}, which is not required and has no default`),
    ...idle.map((name) => `its parameter "${name}" is not used: use it in url, query, headers or body`),
  ];
}

function isOpen(schema: JsonSchema): boolean {
  return schema['additionalProperties'] !== undefined && schema['additionalProperties'] !== false;
}
