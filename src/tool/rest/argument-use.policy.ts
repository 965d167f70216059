import type { JsonSchema } from '../../common/index.js';

export interface ArgumentUse {
  /** What the address needs. */
  readonly path: readonly (readonly string[])[];
  readonly elsewhere: readonly (readonly string[])[];
  /** Where the others go; undefined where nothing is left for them. */
  readonly rest: 'query' | 'body' | undefined;
}

/** What is wrong with how a declaration uses its arguments; of an open or composed schema nothing is known. */
export function argumentProblems(schema: JsonSchema, { path, elsewhere, rest }: ArgumentUse): string[] {
  const properties = (schema['properties'] ?? {}) as Readonly<Record<string, JsonSchema>>;
  const isKnown = !['$ref', 'allOf', 'anyOf', 'oneOf', 'patternProperties', 'if'].some((key) => key in schema);
  if (!isKnown || isOpen(schema)) return [];
  const declared = new Set(Object.keys(properties));
  const required = new Set((schema['required'] ?? []) as readonly string[]);
  const used = new Set([...path, ...elsewhere].map(([name]) => name!));
  const isSure = (name: string) => required.has(name) || properties[name]?.['default'] !== undefined;
  const needed = [...new Set(path.map(([name]) => name!))].filter((name) => declared.has(name) && !isSure(name));
  const strangers = [...used].filter((name) => !declared.has(name));
  const idle = rest === undefined ? [...declared].filter((name) => !used.has(name)) : [];
  return [
    ...strangers.map((name) => `it uses {${name}}, which is none of its parameters`),
    ...needed.map((name) => `its url needs {${name}}, which is not required and has no default`),
    ...idle.map((name) => `its parameter "${name}" goes nowhere: use it in url, query, headers or body`),
  ];
}

function isOpen(schema: JsonSchema): boolean {
  return schema['additionalProperties'] !== undefined && schema['additionalProperties'] !== false;
}
