import { Injectable, Logger } from '@nestjs/common';
import { AppError, VERSION } from '../common/index.js';
import { McpChanges } from './mcp-changes.service.js';
import { McpPromptService } from './mcp-prompts.service.js';
import { McpResourceService } from './mcp-resources.service.js';
import { McpTools } from './mcp-tools.service.js';

/** All that MCP clients are offered, whatever way they come. */
@Injectable()
export class McpOffer {
  readonly info = { name: 'jackdaw', title: 'Jackdaw', version: VERSION };
  readonly instructions =
    'Every tool call is a durable run with an id, `_meta["jackdaw/run_id"]`. A call may wait for a person: do not repeat it then, but read the resource jackdaw://runs/{id} for what became of it.';
  private readonly logger = new Logger('McpServer');

  constructor(
    readonly tools: McpTools,
    readonly prompts: McpPromptService,
    readonly resources: McpResourceService,
    readonly changes: McpChanges,
  ) {}

  /** Faults of the server belong into its log; a client is told nothing of their inside. */
  report(error: unknown): void {
    const isOurs = error instanceof AppError ? error.code === 'INTERNAL' : !isProtocols(error);
    if (isOurs) this.logger.error({ err: error }, 'A request of an MCP client failed');
  }
}

/** The SDK's own errors say what was wrong with the request. */
function isProtocols(error: unknown): boolean {
  return error instanceof Error && error.name === 'ProtocolError';
}
