import { AppError, messageOf } from '../../errors/index.js';
import type { Tool } from '../../tool/method/index.js';
import { createCredentials } from '../rest-auth.factory.js';
import { createRestTool, type BuilderOf, type RestToolWorld } from '../rest-tool.factory.js';
import type { RestAuth, RestToolDeclaration } from '../rest-tool.types.js';
import { loadOpenApi } from './openapi-document.loader.js';
import { type MappedOperation, OpenApiOperations, serverMistakes } from './openapi-operation.mapper.js';
import { OpenApiOperationRegistry, type SelectedOperation } from './openapi-operation.registry.js';
import { OpenApiReferences } from './openapi-reference.mapper.js';
import { type OpenApiRequest, OpenApiRequestBuilder } from './openapi-request.builder.js';
import type { OpenApiImport, OpenApiRefusal } from './openapi.types.js';

const MAX_LISTED = 5;

/** The tools of a document, not yet registered. */
export interface OpenApiTools {
  readonly tools: readonly Tool[];
  readonly refused: readonly OpenApiRefusal[];
  /** `operationId`s that several operations have. */
  readonly repeated: readonly string[];
}

/**
 * Creates tools of the selected operations. An operation that cannot be expressed is refused; the others are not
 * affected.
 * @param source location of the declaration, for messages
 * @throws AppError `TOOL_INVALID` for a document that cannot be read, and for mistakes of the import itself
 */
export async function createOpenApiTools(
  { document: given, operations, prefix = '', private: isPrivate, ...rest }: OpenApiImport,
  source: string,
  world: RestToolWorld,
): Promise<OpenApiTools> {
  const mistakes = [...serverMistakes(rest.server), ...secretMistakes(rest.secrets, world)];
  if (mistakes.length > 0) throw new AppError('TOOL_INVALID', mistakes.join('; '));
  const document = await loadOpenApi(given);
  const references = new OpenApiReferences(document);
  const registry = new OpenApiOperationRegistry(document, references, prefix);
  const mapper = new OpenApiOperations(document, references, rest);
  const tools: Tool[] = [];
  const refused: OpenApiRefusal[] = [...registry.broken];
  const unmet: string[] = [];
  for (const selected of registry.select(operations)) {
    const needs: string[] = [];
    try {
      const mapped = mapper.map(selected, { mistakes, needs });
      const declaration = { ...mapped.declaration, ...(isPrivate !== undefined && { private: isPrivate }) };
      tools.push(toTool({ ...mapped, declaration }, selected.changes, source, world, mistakes));
    } catch (error) {
      const { where: operation } = selected.operation;
      refused.push({
        operation,
        reason: messageOf(error).replaceAll(`${operation}: `, '').replaceAll(`${operation}.`, ''),
      });
      unmet.push(...needs.slice(0, 1));
    }
  }
  // Without a setting that every usable operation needs, the import is the mistake.
  if (tools.length === 0 && unmet.length > 0) mistakes.push(...unmet.slice(0, MAX_LISTED));
  if (mistakes.length > 0) throw new AppError('TOOL_INVALID', [...new Set(mistakes)].join('; '));
  return { tools, refused, repeated: registry.repeated };
}

/** A fault of the overrides is a mistake of the import; a fault without them is one of the document. */
function toTool(
  { declaration, request }: MappedOperation,
  { omit: _omitted, ...overrides }: SelectedOperation['changes'],
  source: string,
  world: RestToolWorld,
  mistakes: string[],
): Tool {
  const builderOf: BuilderOf = (credentials) => new OpenApiRequestBuilder(request, credentials);
  const create = (declared: RestToolDeclaration) =>
    createRestTool(declared, `${source} ${JSON.stringify(declared.name)}`, world, builderOf);
  if (overrides.cacheTtlMs !== undefined && takesFiles(request))
    mistakes.push(
      `${declaration.name} takes files: remove its cacheTtlMs, since a number is another file in another run`,
    );
  try {
    return create({ ...declaration, ...overrides });
  } catch (error) {
    if (Object.keys(overrides).length === 0) throw error;
    const tool = create(declaration);
    mistakes.push(messageOf(error));
    return tool;
  }
}

function takesFiles({ body }: OpenApiRequest): boolean {
  return body !== undefined && (body.kind === 'bytes' || body.files.size > 0);
}

function secretMistakes(given: OpenApiImport['secrets'] = {}, { secrets }: RestToolWorld): readonly string[] {
  const mistakes: string[] = [];
  for (const secret of Object.values(given)) {
    const auth: RestAuth =
      typeof secret === 'string' ? { type: 'bearer', token: secret } : { type: 'basic', ...secret };
    createCredentials(auth, secrets, mistakes);
  }
  return mistakes;
}
