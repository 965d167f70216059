import { Injectable } from '@nestjs/common';
import type { Tool as McpTool } from '@modelcontextprotocol/server';
import { AppError, type ErrorCode } from '../errors/index.js';
import type { Principal } from '../kernel/index.js';
import type { JsonSchema } from '../kernel/json/index.js';
import { McpAgents } from './mcp-agents.service.js';
import type { McpCall, McpToolAnswer } from './mcp-call.types.js';
import { McpRegisteredTools } from './mcp-registered-tools.service.js';
import { failed } from './tool-answer.mapper.js';

/** Errors that a model can handle; they are tool results. All others are protocol errors. */
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

/** Tools and agents as MCP tools. If both have the same name, the tool applies. */
@Injectable()
export class McpTools {
  constructor(
    private readonly tools: McpRegisteredTools,
    private readonly agents: McpAgents,
  ) {}

  /** Tools that the principal may call, registered tools first. */
  async list(principal: Principal): Promise<McpTool[]> {
    const agents = this.agents.list(principal).filter(({ name }) => !this.tools.has(name));
    return [...(await this.tools.list(principal)), ...agents];
  }

  /** A registered tool's declared result schema. */
  outputSchema(name: string): JsonSchema | undefined {
    return this.tools.outputSchema(name);
  }

  /** @throws AppError `TOOL_NOT_FOUND`, `TOOL_DISABLED`, `FORBIDDEN`, or an internal error */
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
