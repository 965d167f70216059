import { Injectable } from '@nestjs/common';
import type { Tool as McpTool } from '@modelcontextprotocol/server';
import { AppError, type ErrorCode, type JsonSchema, type Principal } from '../common/index.js';
import { McpAgents } from './mcp-agents.service.js';
import type { McpCall, McpToolAnswer } from './mcp-call.types.js';
import { McpRegisteredTools } from './mcp-registered-tools.service.js';
import { failed } from './tool-answer.mapper.js';

/** What a model can read and do something about; everything else is an error of the protocol. */
const FOR_THE_MODEL: ReadonlySet<ErrorCode> = new Set([
  'TOOL_INVALID_ARGUMENTS',
  'INPUT_BLOCKED',
  'SESSION_NOT_FOUND',
  'SESSION_BUSY',
  'RUN_RATE_LIMITED',
  'TENANT_QUEUE_FULL',
  'RUN_QUEUE_FULL',
  'BUDGET_EXCEEDED',
  'SHUTTING_DOWN',
]);

/** Tools and agents as the tools of MCP clients; of one name, the tool is the one that is called. */
@Injectable()
export class McpTools {
  constructor(
    private readonly tools: McpRegisteredTools,
    private readonly agents: McpAgents,
  ) {}

  /** Those that the principal may call, tools first. */
  async list(principal: Principal): Promise<McpTool[]> {
    const agents = this.agents.list(principal).filter(({ name }) => !this.tools.has(name));
    return [...(await this.tools.list(principal)), ...agents];
  }

  /** What a tool of the registry says of its results. */
  outputSchema(name: string): JsonSchema | undefined {
    return this.tools.outputSchema(name);
  }

  /** @throws AppError `TOOL_NOT_FOUND`, `TOOL_DISABLED`, `FORBIDDEN`, or a fault of the server */
  async call(call: McpCall, name: string, args: Readonly<Record<string, unknown>>): Promise<McpToolAnswer> {
    const isAgent = !this.tools.has(name) && this.agents.has(name);
    try {
      return isAgent ? await this.agents.ask(call, name, args) : await this.tools.call(call, name, args);
    } catch (error) {
      if (!(error instanceof AppError && FOR_THE_MODEL.has(error.code))) throw error;
      return failed(error.message, { 'jackdaw/code': error.code });
    }
  }
}
