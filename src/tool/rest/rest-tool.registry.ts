import { Injectable } from '@nestjs/common';
import { AppError, messageOf } from '../../common/index.js';
import { AppConfig } from '../../config/index.js';
import { OutgoingClient } from '../../security/index.js';
import { ToolRegistry } from '../tool.registry.js';
import { attempt } from '../attempt.policy.js';
import { loadOpenApi } from './openapi/openapi-document.loader.js';
import { OpenApiOperations } from './openapi/openapi-operation.mapper.js';
import type { OpenApiImport } from './openapi/openapi.types.js';
import { ContextConnections } from './connection/context-connections.registry.js';
import { createRestTool, type RestToolWorld } from './rest-tool.factory.js';
import type { RestToolDeclaration } from './rest-tool.types.js';
import { checkDeclaration, checkImport } from './rest-tool.schema.js';

/** Registers declared endpoints as tools. */
@Injectable()
export class RestToolRegistry {
  private readonly secrets: Readonly<Record<string, string>>;

  constructor(
    config: AppConfig,
    private readonly client: OutgoingClient,
    private readonly tools: ToolRegistry,
    private readonly connections: ContextConnections,
  ) {
    this.secrets = config.tools.secrets;
  }

  private get world(): RestToolWorld {
    const { client, connections, secrets } = this;
    return { client, connections, secrets };
  }

  /**
   * Registers an endpoint as a tool.
   * @param source location of the declaration, for error messages
   * @throws AppError `TOOL_INVALID` that lists all mistakes, `TOOL_DUPLICATE`
   */
  register(declaration: RestToolDeclaration, source = `REST tool ${JSON.stringify(declaration.name)}`): void {
    this.tools.register(createRestTool(checkDeclaration(declaration, source), source, this.world));
  }

  /**
   * Registers operations of an OpenAPI document as tools: all of them, or none if one cannot be mapped or its name is
   * taken.
   * @param source location of the declaration, for error messages
   * @throws AppError `TOOL_INVALID` that lists all parts that cannot be mapped, `TOOL_DUPLICATE`
   */
  async importOpenApi(given: OpenApiImport, source = 'OpenAPI'): Promise<void> {
    const { document, operations, ...rest } = checkImport(given, source);
    const problems: string[] = [];
    const mapper = await loadOpenApi(document)
      .then((node) => new OpenApiOperations(node, rest))
      .catch(refusing(source));
    const declared = operations.map((operation) => attempt(() => mapper.map(operation), problems));
    const tools = declared.map(
      (one) => one && attempt(() => createRestTool(one, `${source} ${JSON.stringify(one.name)}`, this.world), problems),
    );
    if (problems.length > 0) throw new AppError('TOOL_INVALID', `${source}: ${problems.join('; ')}.`);
    this.tools.registerAll(tools.filter((tool) => tool !== undefined));
  }
}

function refusing(source: string): (error: unknown) => never {
  return (error) => {
    throw new AppError('TOOL_INVALID', `${source}: ${messageOf(error)}.`, { cause: error });
  };
}
