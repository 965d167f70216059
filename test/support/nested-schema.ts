type Schema = Readonly<Record<string, unknown>>;

/** A schema with this nesting: objects around a text. */
export function nestedSchema(levels: number): Schema {
  return levels === 1 ? { type: 'string' } : { type: 'object', properties: { n: nestedSchema(levels - 1) } };
}
