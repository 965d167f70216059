import type { Tool as McpTool } from '@modelcontextprotocol/server';
import { Injectable } from '@nestjs/common';
import { AgentService } from '../agent/index.js';
import type { RunAnswer } from '../agent/answer/index.js';
import { type AgentDefinition, AgentRegistry } from '../agent/definition/index.js';
import { AppError } from '../errors/index.js';
import type { Principal } from '../kernel/index.js';
import { hasScope } from '../security/index.js';
import { createValueCheck } from '../tool/input/index.js';
import type { McpCall, McpToolAnswer } from './mcp-call.types.js';
import { McpRuns, type McpTask } from './mcp-run.service.js';
import { agentProgress } from './progress.mapper.js';
import { assertScope } from './scope.policy.js';
import { toAgentAnswer } from './tool-answer.mapper.js';

/** The tool for an agent, as MCP clients see it. */
function toAgentTool({ name, description }: Pick<AgentDefinition, 'name' | 'description'>, tool: string): McpTool {
  return {
    name: tool,
    description: `Asks the agent "${name}"${description === '' ? '' : `: ${description}`}`,
    inputSchema: {
      type: 'object',
      properties: {
        message: { type: 'string', minLength: 1, description: 'The message to the agent.' },
        session_id: { type: 'string', description: 'Session to continue; if omitted, a new one.' },
      },
      required: ['message'],
      additionalProperties: false,
    },
    outputSchema: {
      type: 'object',
      properties: {
        answer: { type: 'string' },
        session_id: { type: 'string', description: 'Session of the conversation; pass it to continue.' },
        run_id: { type: 'string' },
        output: { description: 'Value of the answer, if the agent returns one.' },
      },
      required: ['answer', 'session_id', 'run_id'],
    },
    annotations: { readOnlyHint: false, idempotentHint: false, destructiveHint: true, openWorldHint: true },
  };
}

interface Question {
  readonly message: string;
  readonly session_id?: string;
}

/** Agents for MCP clients: one tool for each agent. */
@Injectable()
export class McpAgents {
  /** Compiled by the first call: most servers have none, and it takes a twentieth of the CPU time of their start. */
  private check: ReturnType<typeof createValueCheck> | undefined;

  constructor(
    private readonly agents: AgentRegistry,
    private readonly asking: AgentService,
    private readonly runs: McpRuns,
  ) {}

  /** Whether the tool name belongs to an existing agent. */
  has(tool: string): boolean {
    return this.agents.askedBy(tool) !== undefined;
  }

  /** Tools of the agents that the principal may call. */
  list(principal: Principal): McpTool[] {
    if (!hasScope(principal, 'chat')) return [];
    return this.agents.list().map((agent) => toAgentTool(agent, this.agents.toolOf(agent.name)));
  }

  /** @throws AppError `FORBIDDEN`, `TOOL_INVALID_ARGUMENTS`, and as `AgentService.chat` */
  ask(call: McpCall, tool: string, args: Readonly<Record<string, unknown>>): Promise<McpToolAnswer> {
    const { principal } = call;
    assertScope(principal, 'chat');
    const agent = this.agents.askedBy(tool) ?? '';
    const { message, session_id: sessionId } = this.questionOf(args);
    const wait = { signal: call.signal };
    const request = { query: message, agent, wait, ...(sessionId !== undefined && { sessionId }) };
    const task: McpTask<RunAnswer, McpToolAnswer> = {
      subject: agent,
      start: ({ onStart, onItem }) => this.asking.chat(principal, request, onStart, onItem),
      read: (runId) => this.asking.answer(principal, runId),
      onItem: agentProgress(call),
      toResult: toAgentAnswer,
    };
    return this.runs.perform(call, task);
  }

  private questionOf(args: Readonly<Record<string, unknown>>): Question {
    this.check ??= createValueCheck(toAgentTool({ name: '', description: '' }, '').inputSchema, 'arguments');
    const checked = this.check(args);
    if (checked.valid) return checked.value as Question;
    throw new AppError('TOOL_INVALID_ARGUMENTS', `Invalid arguments: ${checked.reason}`);
  }
}
