import { AppError } from '../../errors/index.js';
import { type JsonSchema, withoutTrailing } from '../../kernel/json/index.js';
import { attempt } from '../../tool/index.js';
import type { RestAuth, RestToolDeclaration } from '../rest-tool.types.js';
import { isRewritten, traverses } from '../url-template.parser.js';
import { mapBody, type MappedBody } from './openapi-body.mapper.js';
import { MAX_NAME_LENGTH, toName, withHash } from './openapi-name.mapper.js';
import { type FoundOperation, isRestMethod, type SelectedOperation } from './openapi-operation.registry.js';
import { type MappedParameter, OpenApiParameters, type OperationFaults } from './openapi-parameter.mapper.js';
import type { OpenApiReferences } from './openapi-reference.mapper.js';
import type { Named, OpenApiRequest } from './openapi-request.builder.js';
import { OpenApiSchemas } from './openapi-schema.mapper.js';
import { unmappable } from './openapi.error.js';
import { isNode, type Node, type OpenApiImport, type OpenApiSecret } from './openapi.types.js';

type Secrets = Readonly<Record<string, OpenApiSecret>>;

/**
 * The authentication of an operation: the first alternative whose schemes all have a secret, or none if the operation
 * requires none. @throws AppError `TOOL_INVALID` if a secret is missing or a scheme is not supported
 */
export function mapSecurity(
  requirements: unknown,
  schemes: unknown,
  secrets: Secrets,
  references: OpenApiReferences,
  where: string,
): readonly RestAuth[] {
  const alternatives = (Array.isArray(requirements) ? (requirements as unknown[]) : []).filter(isNode);
  if (alternatives.length === 0) return [];
  // A configured secret is used even if the operation also allows calls without one.
  const usable = alternatives.filter((one) => Object.keys(one).every((name) => Object.hasOwn(secrets, name)));
  const chosen = usable.find((one) => Object.keys(one).length > 0) ?? usable[0];
  if (!chosen) {
    const wanted = alternatives.map((one) => Object.keys(one).join(' and ')).join(', or ');
    throw unmappable(where, `it needs ${wanted}: name their variables in \`secrets\``);
  }
  const entries = Object.keys(chosen).map((name) => {
    const place = `components.securitySchemes.${name}`;
    const { node } = references.resolve(isNode(schemes) ? schemes[name] : undefined, place);
    return toAuth(node, secrets[name]!, place);
  });
  // Two schemes with one secret, such as two flows of OAuth 2, send it once.
  return [...new Map(entries.map((entry) => [JSON.stringify(entry), entry])).values()];
}

function toAuth(scheme: Node, secret: OpenApiSecret, where: string): RestAuth {
  const { type } = scheme;
  const kind = type === 'http' ? String(scheme['scheme']).toLowerCase() : type;
  switch (kind) {
    case 'basic':
      if (typeof secret === 'string')
        throw unmappable(where, 'it is basic: give { username, password } or { user, password } in `secrets`');
      return { type: 'basic', ...secret };
    case 'bearer':
    case 'oauth2':
    case 'openIdConnect':
      return { type: 'bearer', token: oneName(secret, where) };
    case 'apiKey': {
      const { in: place, name } = scheme;
      if (place !== 'header' && place !== 'query' && place !== 'cookie')
        throw unmappable(where, `its key is in ${JSON.stringify(place)}, which a tool cannot set`);
      return { type: 'apiKey', in: place, name: String(name), key: oneName(secret, where) };
    }
    default:
      throw unmappable(where, `its type is ${JSON.stringify(kind)}, which is not supported`);
  }
}

function oneName(secret: OpenApiSecret, where: string): string {
  if (typeof secret === 'string') return secret;
  throw unmappable(where, 'it takes one secret: give the name of one variable in `secrets`');
}

const NOT_ABSOLUTE = 'is not https://host/path: give `server`';

/** Mistakes of an import's own `server`. */
export function serverMistakes(server: string | undefined): readonly string[] {
  return server === undefined || isAbsolute(server) ? [] : [`its server ${JSON.stringify(server)} ${NOT_ABSOLUTE}`];
}

/**
 * The base URL of an operation: the import's `server`, else the only server of the nearest list.
 * @param lists servers of the operation, its path and the document, in this order
 * @throws AppError `TOOL_INVALID` unless that is one absolute URL
 */
export function mapServer(override: string | undefined, lists: readonly unknown[], where: string): string {
  const url = override ?? onlyServer(lists, where);
  if (!isAbsolute(url)) throw unmappable(where, `its server ${JSON.stringify(url)} ${NOT_ABSOLUTE}`);
  return withoutTrailing(url, '/');
}

function isAbsolute(url: string): boolean {
  return /^https?:\/\/[^/]/i.test(url) && !/[{}?#@]/.test(url) && URL.canParse(url);
}

function onlyServer(lists: readonly unknown[], where: string): string {
  const [servers = []] = lists.filter((list): list is unknown[] => Array.isArray(list) && list.length > 0);
  const [server, ...others] = servers.filter(isNode);
  if (!server) throw unmappable(where, 'the document names no server: give `server`');
  if (others.length > 0) {
    const urls = servers.map((one) => String(isNode(one) ? one['url'] : one)).join(', ');
    throw unmappable(where, `the document names several servers (${urls}): give one as \`server\``);
  }
  const variables = isNode(server['variables']) ? server['variables'] : {};
  return String(server['url']).replaceAll(/\{([^{}]+)\}/g, (whole, name: string) => {
    const variable = variables[name];
    const fallback = isNode(variable) ? variable['default'] : undefined;
    return typeof fallback === 'string' ? fallback : whole;
  });
}

/** An operation as the declaration of a tool, and its request. */
export interface MappedOperation {
  readonly declaration: RestToolDeclaration;
  readonly request: OpenApiRequest;
}

/** Maps operations of one document to declarations of tools. */
export class OpenApiOperations {
  /** @param document parsed, of OpenAPI 3 */
  constructor(
    private readonly document: Node,
    private readonly references: OpenApiReferences,
    private readonly given: Pick<OpenApiImport, 'server' | 'secrets'>,
  ) {}

  /**
   * @param mistakes receives mistakes of the selection
   * @param needs receives settings that the import does not give
   * @throws AppError `TOOL_INVALID` that lists every part that cannot be mapped, with location and reason
   */
  map(
    { operation, changes: { omit = [] } }: SelectedOperation,
    { mistakes, needs }: Omit<OperationFaults, 'refusals'>,
  ): MappedOperation {
    const { node, item, path, method, where, name } = operation;
    if (!isRestMethod(method)) throw unmappable(where, `the method ${method} is not supported`);
    const refusals: string[] = [];
    const faults: OperationFaults = { refusals, mistakes, needs };
    const schemas = new OpenApiSchemas(this.references, String(this.document['openapi']).startsWith('3.0'));
    const lists = [item['parameters'], node['parameters']];
    const parameters = new OpenApiParameters(this.references, schemas).map(lists, omit, where, faults);
    const body = attempt(() => mapBody(node['requestBody'], method, this.references, schemas, where), refusals);
    const servers = [node['servers'], item['servers'], this.document['servers']];
    const base = attempt(() => mapServer(this.given.server, servers, where), needs);
    const auth = attempt(() => this.authOf(operation), needs) ?? [];
    const free = parameters.filter((one) => !auth.some((entry) => sets(entry, one)));
    const request = attempt(() => toRequest(base ?? 'https://unknown', path, free, body, where), refusals);
    const faultsFound = [...new Set([...refusals, ...needs])];
    if (!request || faultsFound.length > 0) throw new AppError('TOOL_INVALID', faultsFound.join('; '));
    const declaration = {
      name,
      description: descriptionOf(operation),
      method,
      url: `${request.base}${path}`,
      parameters: schemaOf(request),
      ...(auth.length > 0 && { auth }),
    };
    return { declaration, request };
  }

  private authOf({ node, where }: FoundOperation): readonly RestAuth[] {
    const { components, security: general } = this.document;
    const schemes = isNode(components) ? components['securitySchemes'] : undefined;
    const { secrets = {} } = this.given;
    return mapSecurity(node['security'] ?? general, schemes, secrets, this.references, where);
  }
}

/** Whether credentials set a parameter; the parameter mapper ignores `Authorization`. */
function sets(auth: RestAuth, { place, name }: MappedParameter): boolean {
  if (auth.type !== 'apiKey' || auth.in !== place) return false;
  return place === 'header' ? auth.name.toLowerCase() === name.toLowerCase() : auth.name === name;
}

function toRequest(
  base: string,
  path: string,
  parameters: readonly MappedParameter[],
  body: MappedBody | undefined,
  where: string,
): OpenApiRequest {
  // Some documents distinguish operations of one address by a fragment, which is never sent.
  const [, plain = '', search = ''] = /^([^?#]*)(?:\?([^#]*))?/s.exec(path) ?? [];
  const named = withArguments(parameters);
  const bodyName = freeName('body', new Set(named.map(({ argument }) => argument)));
  return {
    base,
    path: segmentsOf(plain, named, where),
    search,
    parameters: named,
    ...(body && { body: { ...body, argument: bodyName } }),
  };
}

function segmentsOf(
  path: string,
  parameters: readonly Named<MappedParameter>[],
  where: string,
): OpenApiRequest['path'] {
  const inPath = parameters.filter(({ place }) => place === 'path');
  const stray = inPath.find(({ name }) => !path.includes(`{${name}}`));
  if (stray) {
    const what = `it is a path parameter, but the path has no {${stray.name}}`;
    throw unmappable(`${where}: parameter ${JSON.stringify(stray.name)}`, what);
  }
  const segments = path.replace(/^\/+/, '').split('/');
  if (segments.some(traverses))
    throw unmappable(where, 'its path would leave its base URL: it has a segment "." or ".."');
  return segments.map((segment) =>
    segment
      .split(/(\{[^{}]*\})/)
      .filter((piece) => piece !== '')
      .map((piece) => {
        const [, name] = /^\{([^{}]*)\}$/.exec(piece) ?? [];
        if (name === undefined && isRewritten(piece))
          throw unmappable(where, 'its path has a "\\" or a control character');
        if (name === undefined) return piece;
        const parameter = inPath.find((one) => one.name === name);
        if (parameter) return parameter;
        throw unmappable(where, `its path has {${name}}, which is not among its path parameters`);
      }),
  );
}

function schemaOf({ parameters, body }: OpenApiRequest): JsonSchema {
  const all = [...parameters, ...(body ? [body] : [])];
  return {
    type: 'object',
    properties: Object.fromEntries(all.map(({ argument, schema }) => [argument, schema])),
    required: all.filter(({ isRequired }) => isRequired).map(({ argument }) => argument),
    additionalProperties: false,
  };
}

/** Assigns argument names; a name that occurs in two places gets the place as suffix. */
function withArguments(parameters: readonly MappedParameter[]): readonly Named<MappedParameter>[] {
  const taken = new Set<string>();
  return parameters.map((parameter) => {
    const name = toName(parameter.name);
    const plain = name.length > MAX_NAME_LENGTH ? withHash(name, parameter.name) : name;
    const argument = freeName(taken.has(plain) ? `${plain}_${parameter.place}` : plain, taken);
    taken.add(argument);
    return { ...parameter, argument };
  });
}

function freeName(name: string, taken: ReadonlySet<string>): string {
  let free = name;
  for (let count = 2; taken.has(free); count++) free = `${name}_${count}`;
  return free;
}

function descriptionOf({ node, where }: FoundOperation): string {
  const texts = [node['summary'], node['description']].filter((text) => typeof text === 'string' && text.trim() !== '');
  return texts.length > 0 ? texts.join('\n\n') : where;
}
