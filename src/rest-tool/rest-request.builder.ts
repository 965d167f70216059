import type { JsonSchema } from '../kernel/json/index.js';
import type { RunContext } from '../run/context/index.js';
import { type Arguments, unwritable } from './argument-text.mapper.js';
import { isHeaderText } from './header.policy.js';
import { type Pair, parseRequest, type RequestTemplate, spreadPairs } from './request-template.parser.js';
import { cookieHeader, type Credentials } from './rest-auth.factory.js';
import type { RestToolDeclaration } from './rest-tool.types.js';

interface ArgumentUse {
  /** Argument paths used in the URL path. */
  readonly path: readonly (readonly string[])[];
  /** Argument paths used in query, headers or body. */
  readonly elsewhere: readonly (readonly string[])[];
  /** Destination of all other arguments; `undefined` if the declaration leaves none. */
  readonly rest: 'query' | 'body' | undefined;
}

/** Mismatches between a declaration's parameters and their use. Open or composed schemas are not checked. */
function argumentProblems(schema: JsonSchema, { path, elsewhere, rest }: ArgumentUse): string[] {
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

export interface RestRequest {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  /** Texts for the declared origin only. */
  readonly secrets: readonly string[];
}

/** Destination of arguments without a placeholder. */
type Rest = 'query' | 'body' | undefined;
type Entry = readonly [name: string, value: unknown];

const WITH_BODY = new Set(['POST', 'PUT', 'PATCH']);
export const DEFAULT_HEADERS = { accept: 'application/json, text/*;q=0.9', 'user-agent': 'jackdaw' };

/** The files that an argument may name. */
export type FileSource = Pick<RunContext['files'], 'find'>;

export interface RequestBuilder {
  /** Names of the headers that arguments may set. */
  readonly headerNames: readonly string[];
  /** @throws AppError `TOOL_INVALID_ARGUMENTS` for arguments that match the schema but cannot be encoded */
  build(args: Arguments, files?: FileSource): RestRequest | Promise<RestRequest>;
}

/** Builds the requests of a declaration from validated arguments. */
export class RestRequestBuilder implements RequestBuilder {
  private constructor(
    private readonly template: RequestTemplate,
    private readonly credentials: Credentials,
    private readonly used: ReadonlySet<string>,
    private readonly rest: Rest,
    private readonly isForm: boolean,
    readonly headerNames: readonly string[],
  ) {}

  /**
   * Compiles a declaration; `undefined` after a mistake, which is appended to `problems`.
   * @param schema schema of the arguments
   */
  static create(
    declaration: RestToolDeclaration,
    schema: JsonSchema,
    credentials: Credentials,
    problems: string[],
  ): RestRequestBuilder | undefined {
    const template = parseRequest(declaration, problems);
    if (!template) return undefined;
    const rest = restOf(declaration);
    const path = template.url.paths;
    const others = [...template.query, ...template.headers, ...(template.body ? [template.body] : [])];
    const elsewhere = others.flatMap(({ paths }) => paths);
    problems.push(...argumentProblems(schema, { path, elsewhere, rest }));
    const names = Object.keys(declaration.headers ?? {});
    const used = new Set([...path, ...elsewhere].map(([name]) => name!));
    return new RestRequestBuilder(template, credentials, used, rest, declaration.bodyType === 'form', names);
  }

  build(args: Arguments): RestRequest {
    const others = Object.entries(args).filter(([name]) => !this.used.has(name));
    const headers = headersOf(this.template.headers.flatMap((pair) => pair.fill(args)));
    const body = this.bodyOf(args, others);
    const type = this.isForm ? 'application/x-www-form-urlencoded' : 'application/json';
    return {
      url: this.urlOf(args, others),
      headers: {
        ...DEFAULT_HEADERS,
        ...(body !== undefined && { 'content-type': type }),
        ...headers,
        ...cookieHeader(this.credentials.cookies),
        ...this.credentials.headers,
      },
      ...(body !== undefined && { body }),
      secrets: this.credentials.secrets,
    };
  }

  private urlOf(args: Arguments, others: readonly Entry[]): URL {
    const url = this.template.url.fill(args);
    const own = this.template.query.flatMap((pair) => pair.fill(args));
    const more = this.rest === 'query' ? others.flatMap(([name, value]) => spreadPairs(name, value)) : [];
    for (const [name, value] of [...own, ...more, ...this.credentials.query]) url.searchParams.append(name, value);
    return url;
  }

  private bodyOf(args: Arguments, others: readonly Entry[]): string | undefined {
    const body = this.template.body ? this.template.body.fill(args) : this.restBody(others);
    if (body === undefined) return undefined;
    return this.isForm ? formText(body) : JSON.stringify(body);
  }

  private restBody(others: readonly Entry[]): unknown {
    return this.rest === 'body' && others.length > 0 ? Object.fromEntries(others) : undefined;
  }
}

function restOf({ method = 'GET', query, body }: RestToolDeclaration): Rest {
  const [place, given] = WITH_BODY.has(method) ? (['body', body] as const) : (['query', query] as const);
  return given === undefined ? place : undefined;
}

function headersOf(pairs: readonly Pair[]): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, value] of pairs) {
    if (!isHeaderText(value)) {
      throw unwritable(`the header "${name}" cannot contain these characters; use plain ASCII`);
    }
    headers[name] = value;
  }
  return headers;
}

function formText(body: unknown): string {
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw unwritable('a form body must be an object');
  const form = new URLSearchParams();
  const pairs = Object.entries(body).flatMap(([name, value]) => spreadPairs(name, value));
  for (const [name, value] of pairs) form.append(name, value);
  return form.toString();
}
