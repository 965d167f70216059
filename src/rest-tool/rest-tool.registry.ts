import { Inject, Injectable } from '@nestjs/common';
import { AppError, Log, messageOf } from '../errors/index.js';
import { toolConfig, type ToolConfig } from '../config/namespaces/index.js';
import { OutgoingClient } from '../security/egress/index.js';
import { estimateTokens } from '../llm/index.js';
import { ToolRegistry } from '../tool/index.js';
import type { Tool } from '../tool/method/index.js';
import { createOpenApiTools } from './openapi/openapi-import.factory.js';
import type { OpenApiImport, OpenApiImported } from './openapi/openapi.types.js';
import { ContextConnections } from './connection/context-connections.registry.js';
import { createRestTool, type RestToolWorld } from './rest-tool.factory.js';
import type { RestToolDeclaration } from './rest-tool.types.js';
import { checkDeclaration, checkImport } from './rest-tool.schema.js';

const logger = new Log('RestToolRegistry');

/** Numbers of tools and of tokens of their schemas above which an import is reported. */
const MAX_TOOLS = 128;
const MAX_SCHEMA_TOKENS = 20_000;
const MAX_LISTED = 5;
const MAX_REASON_CHARACTERS = 160;

/** Registers declared endpoints as tools. */
@Injectable()
export class RestToolRegistry {
  private readonly secrets: Readonly<Record<string, string>>;
  private readonly imported: OpenApiImported[] = [];

  constructor(
    @Inject(toolConfig.KEY) config: ToolConfig,
    private readonly client: OutgoingClient,
    private readonly tools: ToolRegistry,
    private readonly connections: ContextConnections,
  ) {
    this.secrets = config.secrets;
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
   * Registers operations of an OpenAPI document as tools. An operation that cannot be expressed is refused: it is listed
   * in the outcome, and a warning counts the reasons.
   * @param source location of the declaration, for messages
   * @throws AppError `TOOL_INVALID` for an unreadable document and for mistakes of the import; `TOOL_DUPLICATE`. No tool
   *   is registered then.
   */
  async importOpenApi(options: OpenApiImport, source = 'OpenAPI'): Promise<OpenApiImported> {
    const given = checkImport(options, source);
    const { tools, refused, repeated } = await createOpenApiTools(given, source, this.world).catch(refusing(source));
    this.tools.registerAll(tools);
    const imported = { source, tools: tools.map(({ definition }) => definition.name), refused };
    reportImport(imported, repeated);
    reportSize(tools, source);
    this.imported.push(imported);
    return imported;
  }

  /** Outcomes of all imports so far. */
  get imports(): readonly OpenApiImported[] {
    return this.imported;
  }
}

function reportImport({ source, tools, refused }: OpenApiImported, repeated: readonly string[]): void {
  if (repeated.length > 0) {
    const ids = repeated.slice(0, MAX_LISTED).join(', ');
    logger.warn(`${source}: several operations have the same operationId; their tools have a suffix: ${ids}`);
  }
  for (const { operation, reason } of refused) logger.debug(`${source}: ${operation} is refused: ${reason}`);
  if (refused.length === 0) return;
  const listed = refused.slice(0, MAX_LISTED).map(({ operation, reason }) => `${operation} (${shortReason(reason)})`);
  const more = refused.length > MAX_LISTED ? `, and ${refused.length - MAX_LISTED} more` : '';
  const all = tools.length + refused.length;
  logger.warn(`${source}: ${refused.length} of ${all} operations are refused: ${listed.join(', ')}${more}`);
}

/** Many tools cost tokens in every request, and models choose worse among them. */
function reportSize(tools: readonly Tool[], source: string): void {
  let tokens = 0;
  for (const { definition } of tools) tokens += estimateTokens(JSON.stringify(definition));
  if (tools.length <= MAX_TOOLS && tokens <= MAX_SCHEMA_TOKENS) return;
  const size = `${tools.length.toLocaleString('en')} tools with about ${tokens.toLocaleString('en')} tokens of schemas`;
  logger.warn(`${source}: ${size} are imported; select fewer with \`operations\`, or name the tools of each agent`);
}

function shortReason(reason: string): string {
  return reason.length > MAX_REASON_CHARACTERS ? `${reason.slice(0, MAX_REASON_CHARACTERS)}…` : reason;
}

function refusing(source: string): (error: unknown) => never {
  return (error) => {
    throw new AppError('TOOL_INVALID', `${source}: ${messageOf(error)}.`, { cause: error });
  };
}
