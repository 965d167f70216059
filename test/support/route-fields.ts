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

/** One place of a request that a client fills in. */
export interface RouteField {
  readonly route: string;
  readonly name: string;
  /** The request with a value there and nothing else but what is required; undefined where HTTP cannot carry it. */
  readonly request: (
    value: unknown,
  ) => (RouteCall & { readonly headers: Readonly<Record<string, string>> }) | undefined;
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const;
const HEADER = /^[\x21-\x7e\x80-\xff]([\t\x20-\x7e\x80-\xff]*[\x21-\x7e\x80-\xff])?$/;
/** What URLs resolve away, encoded or not. */
const NO_SEGMENT = ['', '.', '..'];

/** Every field of every route of an OpenAPI document: path, query, headers, and the body down to the second level. */
export function fieldsOf(document: OpenAPIObject): RouteField[] {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    METHODS.flatMap((method) => {
      const operation = item[method] as Operation | undefined;
      return operation ? fieldsOfRoute(`${method.toUpperCase()} ${path}`, operation, document) : [];
    }),
  );
}

function fieldsOfRoute(route: string, operation: Operation, document: OpenAPIObject): RouteField[] {
  const schema = operation.requestBody?.content['application/json']?.schema;
  const whole = schema && flat(schema, document);
  const base = whole && sample(whole, document);
  const inBody = whole ? bodyPaths(whole, document) : [];
  return [
    ...(operation.parameters ?? []).map((parameter) => parameterField(route, parameter, base)),
    ...inBody.map((keys) => ({
      route,
      name: `body.${keys.join('.')}`,
      request: (value: unknown) => ({ route, headers: {}, body: placed(base, keys, value) }),
    })),
    ...(whole ? [{ route, name: 'body', request: (value: unknown) => ({ route, headers: {}, body: value }) }] : []),
  ];
}

function parameterField(route: string, { name, in: where }: Parameter, body: unknown): RouteField {
  const base = { route, ...(body !== undefined && { body }) };
  const request = (value: unknown) => {
    const text = (typeof value === 'string' ? value : JSON.stringify(value)).toWellFormed();
    switch (where) {
      case 'path':
        return NO_SEGMENT.includes(text)
          ? undefined
          : { ...base, headers: {}, ids: { [name]: encodeURIComponent(text) } };
      case 'query':
        return { ...base, headers: {}, query: `?${encodeURIComponent(name)}=${encodeURIComponent(text)}` };
      case 'header':
        return HEADER.test(text) ? { ...base, headers: { [name]: text } } : undefined;
    }
  };
  return { route, name: `${where}.${name}`, request };
}

function bodyPaths(schema: Schema, document: OpenAPIObject): (readonly string[])[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, child]) => {
    const inner = flat(child, document);
    const nested = flat(inner.items ?? inner, document).properties ?? {};
    const place = inner.items ? [name, '0'] : [name];
    return [[name], ...Object.keys(nested).map((key) => [...place, key])];
  });
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

/** The least that a schema takes. */
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

function placed(base: unknown, keys: readonly string[], value: unknown): unknown {
  const [key = '', ...rest] = keys;
  const inner = rest.length === 0 ? value : placed(rest[0] === '0' ? [] : {}, rest, value);
  if (Array.isArray(base)) return [inner];
  return { ...(base as object), [key]: inner };
}
