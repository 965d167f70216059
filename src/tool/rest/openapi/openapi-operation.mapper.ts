import { AppError, type JsonSchema, type JsonValue } from '../../../common/index.js';
import { attempt } from '../../attempt.policy.js';
import { REST_METHODS, type RestAuth, type RestMethod, type RestToolDeclaration } from '../rest-tool.types.js';
import { mapBody, type MappedBody } from './openapi-body.mapper.js';
import { type MappedParameter, OpenApiParameters } from './openapi-parameter.mapper.js';
import { OpenApiReferences } from './openapi-reference.mapper.js';
import { OpenApiSchemas } from './openapi-schema.mapper.js';
import { mapSecurity } from './openapi-security.mapper.js';
import { mapServer } from './openapi-server.mapper.js';
import { unmappable } from './openapi.error.js';
import { isNode, type Node, type OpenApiImport, type OpenApiOperation } from './openapi.types.js';

/** An operation and its location in the document. */
interface FoundOperation {
  readonly node: Node;
  readonly item: Node;
  readonly path: string;
  readonly method: RestMethod;
  /** `get /pets/{id}`, for error messages. */
  readonly where: string;
}

type MappedRequest = Pick<RestToolDeclaration, 'url' | 'parameters' | 'query' | 'headers' | 'body'>;

/** A parameter or body with the name of its tool argument. */
type Named<T> = T & { readonly argument: string };

const MAX_NAME_LENGTH = 64;

/** Maps operations of one document to declarations of REST tools. */
export class OpenApiOperations {
  private readonly references: OpenApiReferences;
  private readonly found: ReadonlyMap<string, FoundOperation>;

  /** @param document parsed, of OpenAPI 3.0 or 3.1 */
  constructor(
    private readonly document: Node,
    private readonly given: Omit<OpenApiImport, 'document' | 'operations'>,
  ) {
    this.references = new OpenApiReferences(document);
    this.found = this.operations();
  }

  /** @throws AppError `TOOL_INVALID` that lists every part that cannot be mapped, with location and reason */
  map(chosen: string | OpenApiOperation): RestToolDeclaration {
    const { operationId, omit = [], ...changes } = typeof chosen === 'string' ? { operationId: chosen } : chosen;
    const operation = this.find(operationId);
    const problems: string[] = [];
    const request = this.requestOf(operation, omit, problems);
    const auth = attempt(() => this.authOf(operation), problems);
    if (!request || problems.length > 0) throw new AppError('TOOL_INVALID', [...new Set(problems)].join('; '));
    return {
      name: toName(`${this.given.prefix ?? ''}${operationId}`),
      description: descriptionOf(operation),
      method: operation.method,
      ...request,
      ...(auth && auth.length > 0 && { auth }),
      ...changes,
    };
  }

  private find(operationId: string): FoundOperation {
    const operation = this.found.get(operationId);
    if (operation) return operation;
    const known = [...this.found.keys()].join(', ');
    throw unmappable(JSON.stringify(operationId), `the document has no such operation (it has: ${known || 'none'})`);
  }

  private requestOf(operation: FoundOperation, omit: readonly string[], problems: string[]): MappedRequest | undefined {
    const { node, item, path, method, where } = operation;
    const schemas = new OpenApiSchemas(this.references, String(this.document['openapi']).startsWith('3.0'));
    const lists = [item['parameters'], node['parameters']];
    const parameters = new OpenApiParameters(this.references, schemas).map(lists, omit, where, problems);
    const body = attempt(() => mapBody(node['requestBody'], method, this.references, schemas, where), problems);
    const servers = [node['servers'], item['servers'], this.document['servers']];
    const base = attempt(() => mapServer(this.given.server, servers, where), problems);
    return attempt(() => toRequest(`${base}${path}`, parameters, body, where), problems);
  }

  private authOf({ node, where }: FoundOperation): readonly RestAuth[] {
    const { components, security: general } = this.document;
    const schemes = isNode(components) ? components['securitySchemes'] : undefined;
    const { secrets = {} } = this.given;
    return mapSecurity(node['security'] ?? general, schemes, secrets, this.references, where);
  }

  private operations(): ReadonlyMap<string, FoundOperation> {
    const paths = isNode(this.document['paths']) ? this.document['paths'] : {};
    const all = Object.entries(paths).flatMap(([path, value]) => {
      const item = isNode(value) && '$ref' in value ? this.references.resolve(value, `paths.${path}`).node : value;
      if (!isNode(item)) return [];
      return REST_METHODS.flatMap((method): [string, FoundOperation][] => {
        const node = item[method.toLowerCase()];
        if (!isNode(node) || typeof node['operationId'] !== 'string') return [];
        return [[node['operationId'], { node, item, path, method, where: `${method.toLowerCase()} ${path}` }]];
      });
    });
    return new Map(all);
  }
}

function toRequest(
  path: string,
  parameters: readonly MappedParameter[],
  body: MappedBody | undefined,
  where: string,
): MappedRequest {
  const named = withArguments(parameters);
  const at = (place: MappedParameter['place']) => named.filter((parameter) => parameter.place === place);
  const bodyName = freeName('body', new Set(named.map(({ argument }) => argument)));
  const types: Record<string, string> = body ? { 'content-type': body.contentType } : {};
  return {
    url: toUrl(path, at('path'), where),
    parameters: schemaOf(named, body && { ...body, argument: bodyName }),
    query: Object.fromEntries(at('query').map((one): [string, JsonValue] => [one.name, placeholderOf(one)])),
    headers: { ...types, ...Object.fromEntries(at('header').map((one) => [one.name, placeholderOf(one)])) },
    ...(body && { body: `{${bodyName}}` }),
  };
}

function placeholderOf({ argument, isSpread }: Named<MappedParameter>): string {
  return isSpread ? `{${argument}*}` : `{${argument}}`;
}

function toUrl(path: string, parameters: readonly Named<MappedParameter>[], where: string): string {
  const stray = parameters.find(({ name }) => !path.includes(`{${name}}`));
  if (stray)
    throw unmappable(
      `${where}: parameter ${JSON.stringify(stray.name)}`,
      `it is a path parameter, but the path has no {${stray.name}}`,
    );
  return path.replaceAll(/\{([^{}]*)\}/g, (_, name: string) => {
    const parameter = parameters.find((one) => one.name === name);
    if (!parameter) throw unmappable(where, `its path has {${name}}, which is not among its path parameters`);
    return `{${parameter.argument}}`;
  });
}

function schemaOf(parameters: readonly Named<MappedParameter>[], body: Named<MappedBody> | undefined): JsonSchema {
  const all = [...parameters, ...(body ? [body] : [])];
  return {
    type: 'object',
    properties: Object.fromEntries(all.map(({ argument, schema }) => [argument, schema])),
    required: all.filter(({ isRequired }) => isRequired).map(({ argument }) => argument),
  };
}

/** Assigns argument names; a name that occurs in two places gets the place as suffix. */
function withArguments(parameters: readonly MappedParameter[]): readonly Named<MappedParameter>[] {
  const taken = new Set<string>();
  return parameters.map((parameter) => {
    const plain = toName(parameter.name);
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

/** Replaces characters that names of tools and arguments cannot contain. */
function toName(name: string): string {
  return name.replaceAll(/[^\w-]+/g, '_').slice(0, MAX_NAME_LENGTH);
}

function descriptionOf({ node, where }: FoundOperation): string {
  const texts = [node['summary'], node['description']].filter((text) => typeof text === 'string' && text.trim() !== '');
  return texts.length > 0 ? texts.join('\n\n') : where;
}
