import { Injectable } from '@nestjs/common';
import { AppError, Log } from '../errors/index.js';
import { VERSION } from '../kernel/index.js';
import { McpChanges } from './mcp-changes.service.js';
import { McpPromptService } from './mcp-prompts.service.js';
import { McpResourceService } from './mcp-resources.service.js';
import { McpTools } from './mcp-tools.service.js';

/** Everything that MCP clients can use, over any transport. */
@Injectable()
export class McpOffer {
  readonly info = { name: 'jackdaw', title: 'Jackdaw', version: VERSION };
  readonly instructions =
    'Every tool call is a durable run with an id, `_meta["jackdaw/run_id"]`. A call may wait for a person: then do not repeat it, but read its outcome in the resource jackdaw://runs/{id}.';
  private readonly logger = new Log('McpServer');

  constructor(
    readonly tools: McpTools,
    readonly prompts: McpPromptService,
    readonly resources: McpResourceService,
    readonly changes: McpChanges,
  ) {}

  /** Logs internal errors of the server; clients receive no details of them. */
  report(error: unknown): void {
    const isOurs = error instanceof AppError ? error.code === 'INTERNAL' : !isProtocols(error);
    if (isOurs) this.logger.error({ err: error }, 'Request of an MCP client failed');
  }
}

/** The SDK's own errors describe invalid requests. */
function isProtocols(error: unknown): boolean {
  return error instanceof Error && error.name === 'ProtocolError';
}
