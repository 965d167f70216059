import type { OpenAPIObject } from '@nestjs/swagger';
import type { RouteCall } from './route-walk.js';

interface Schema {
  readonly $ref?: string;
  readonly allOf?: readonly Schema[];
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly minimum?: number;
}

interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
}

interface Operation {
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> };
}

/** A complete request with the value of a field. */
export type FilledCall = RouteCall & { readonly headers?: Readonly<Record<string, string>> };

/** One field of a request that a client fills in. */
export interface RouteField {
  readonly route: string;
  /** `body.images.0.url` */
  readonly name: string;
  /**
   * The request with a value in this field; undefined if HTTP cannot carry it.
   * @param given the rest of the request, as far as it exceeds the required fields
   */
  readonly request: (value: unknown, given?: Partial<RouteCall>) => FilledCall | undefined;
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const;
const HEADER = /^[\x21-\x7e\x80-\xff]([\t\x20-\x7e\x80-\xff]*[\x21-\x7e\x80-\xff])?$/;
/** Path segments that URLs resolve away, encoded or not. */
const NO_SEGMENT = ['', '.', '..'];
/** Maximum depth of a recursive schema. */
const DEEPEST = 6;

/**
 * Every field of every route of an OpenAPI document: path, query, headers, and the body as deep as it is described.
 * @param samples bodies of routes, whose fields count as described, too
 */
export function fieldsOf(
  document: OpenAPIObject,
  samples: Readonly<Record<string, readonly unknown[]>> = {},
): RouteField[] {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    METHODS.flatMap((method) => {
      const operation = item[method] as Operation | undefined;
      const route = `${method.toUpperCase()} ${path}`;
      return operation ? fieldsOfRoute(route, operation, document, samples[route] ?? []) : [];
    }),
  );
}

function fieldsOfRoute(
  route: string,
  operation: Operation,
  document: OpenAPIObject,
  samples: readonly unknown[],
): RouteField[] {
  const schema = operation.requestBody?.content['application/json']?.schema;
  const whole = schema && flat(schema, document);
  const base = whole && sample(whole, document);
  const described = whole ? bodyPaths(whole, document) : [];
  const fields = described.map((keys) => bodyField(route, keys, base));
  const names = new Set(fields.map(({ name }) => name));
  for (const field of samples.flatMap((one) => pathsIn(one).map((keys) => bodyField(route, keys, base, one)))) {
    if (!names.has(field.name)) fields.push(field);
    names.add(field.name);
  }
  return [
    ...(operation.parameters ?? []).map((parameter) => parameterField(route, parameter, base)),
    ...fields,
    ...(whole ? [bodyOf(route)] : []),
  ];
}

function bodyOf(route: string): RouteField {
  return { route, name: 'body', request: (value, given) => ({ route, ...given, body: value }) };
}

/** @param sampled the sample body that contains the field, merged over the given body */
function bodyField(route: string, keys: readonly string[], base: unknown, sampled?: unknown): RouteField {
  const request = (value: unknown, given?: Partial<RouteCall>) => {
    const body = sampled === undefined ? given?.body : { ...(given?.body as object), ...(sampled as object) };
    return { route, ...given, body: placed(body ?? base, keys, value) };
  };
  return { route, name: `body.${keys.join('.')}`, request };
}

function parameterField(route: string, { name, in: where }: Parameter, body: unknown): RouteField {
  const request = (value: unknown, given?: Partial<RouteCall>) => {
    const base = { route, ...(body !== undefined && { body }), ...given };
    const text = (typeof value === 'string' ? value : JSON.stringify(value)).toWellFormed();
    switch (where) {
      case 'path':
        return NO_SEGMENT.includes(text)
          ? undefined
          : { ...base, ids: { ...given?.ids, [name]: encodeURIComponent(text) } };
      case 'query':
        return { ...base, query: withParameter(given?.query, name, text) };
      case 'header':
        return HEADER.test(text) ? { ...base, headers: { [name]: text } } : undefined;
    }
  };
  return { route, name: `${where}.${name}`, request };
}

function withParameter(query: string | undefined, name: string, text: string): string {
  const others = (query ?? '')
    .replace('?', '')
    .split('&')
    .filter((part) => part !== '' && !part.startsWith(`${name}=`));
  return `?${[...others, `${encodeURIComponent(name)}=${encodeURIComponent(text)}`].join('&')}`;
}

function bodyPaths(schema: Schema, document: OpenAPIObject, depth = 0): (readonly string[])[] {
  if (depth === DEEPEST) return [];
  return Object.entries(schema.properties ?? {}).flatMap(([name, child]) => {
    const inner = flat(child, document);
    const place = inner.items ? [name, '0'] : [name];
    const element = inner.items ? flat(inner.items, document) : inner;
    const nested = bodyPaths(element, document, depth + 1).map((keys) => [...place, ...keys]);
    return [[name], ...(inner.items ? [place] : []), ...nested];
  });
}

/** The paths of all values; of lists only the first elements. */
function pathsIn(value: unknown): (readonly string[])[] {
  if (typeof value !== 'object' || value === null) return [];
  const entries: [string, unknown][] = Array.isArray(value) ? [['0', value[0]]] : Object.entries(value);
  return entries.flatMap(([key, child]) => [[key], ...pathsIn(child).map((keys) => [key, ...keys])]);
}

/** The schema without references and compositions. */
function flat(schema: Schema, document: OpenAPIObject): Schema {
  const { $ref, allOf, ...own } = schema;
  const parts = [...(allOf ?? []), ...($ref === undefined ? [] : [resolve($ref, document)])];
  const all = [...parts.map((part) => flat(part, document)), own];
  return {
    ...Object.assign({}, ...all),
    properties: Object.assign({}, ...all.map((part) => part.properties)),
    required: all.flatMap((part) => part.required ?? []),
  } as Schema;
}

function resolve(ref: string, document: OpenAPIObject): Schema {
  const keys = ref.split('/').slice(1);
  return keys.reduce((node: unknown, key) => (node as Record<string, unknown>)[key], document) as Schema;
}

/** The minimal value that a schema accepts. */
function sample(schema: Schema, document: OpenAPIObject): unknown {
  const { type, enum: values, required = [], properties = {}, minimum } = flat(schema, document);
  if (values) return values[0];
  switch ([type].flat()[0]) {
    case 'string':
      return 'x';
    case 'integer':
    case 'number':
      return minimum ?? 1;
    case 'boolean':
      return true;
    case 'array':
      return [];
    case undefined:
    default:
      return Object.fromEntries(required.map((name) => [name, sample(properties[name] ?? {}, document)]));
  }
}

/** The body with a value at a path, otherwise unchanged. */
function placed(base: unknown, keys: readonly string[], value: unknown): unknown {
  const [key = '', ...rest] = keys;
  if (keys.length === 0) return value;
  if (key === '0') {
    const [first, ...others] = Array.isArray(base) ? (base as unknown[]) : [];
    return [placed(first, rest, value), ...others];
  }
  const object = typeof base === 'object' && base !== null ? base : {};
  return { ...object, [key]: placed(Reflect.get(object, key), rest, value) };
}
