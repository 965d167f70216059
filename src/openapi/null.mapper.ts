type Node = Readonly<Record<string, unknown>>;

/** Replaces `nullable`, which OpenAPI 3.1 no longer has, by the type `null` of JSON Schema. */
export function withNullTypes<T>(node: T): T {
  return converted(node) as T;
}

function converted(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(converted);
  if (typeof node !== 'object' || node === null) return node;
  const members = Object.entries(node).map(([key, value]) => [key, converted(value)]);
  const { nullable, ...schema } = Object.fromEntries(members) as Node;
  if (typeof nullable !== 'boolean') return nullable === undefined ? schema : { ...schema, nullable };
  return nullable ? orNull(schema) : schema;
}

function orNull(schema: Node): Node {
  const { type, enum: values, ...rest } = schema;
  if (typeof type !== 'string') return { anyOf: [schema, { type: 'null' }] };
  return {
    ...rest,
    type: [type, 'null'],
    ...(Array.isArray(values) && { enum: [...new Set([...(values as unknown[]), null])] }),
  };
}
