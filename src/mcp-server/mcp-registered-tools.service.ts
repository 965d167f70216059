import { Injectable } from '@nestjs/common';
import type { Tool as McpTool } from '@modelcontextprotocol/server';
import { DirectCallService, type DirectCallAnswer } from '../agent/index.js';
import type { Principal } from '../kernel/index.js';
import type { JsonSchema } from '../kernel/json/index.js';
import type { RunHandle } from '../run/index.js';
import { hasScope } from '../security/index.js';
import { AccessLogService } from '../security/access-log/index.js';
import { partTools, SecurityPolicies, ToolSwitchService } from '../tool-policy/index.js';
import { ToolRegistry } from '../tool/index.js';
import type { Tool } from '../tool/method/index.js';
import type { McpCall, McpToolAnswer } from './mcp-call.types.js';
import { McpRuns, type McpTask } from './mcp-run.service.js';
import { toolProgress } from './progress.mapper.js';
import { assertScope } from './scope.policy.js';
import { type CallWithFiles, toMcpTool, toToolAnswer } from './tool-answer.mapper.js';

/** Tools of the registry for MCP clients. As over REST, each call is a run. */
@Injectable()
export class McpRegisteredTools {
  constructor(
    private readonly tools: ToolRegistry,
    private readonly switches: ToolSwitchService,
    private readonly policies: SecurityPolicies,
    private readonly calls: DirectCallService,
    private readonly runs: McpRuns,
    private readonly access: AccessLogService,
  ) {}

  has(name: string): boolean {
    return this.tools.has(name);
  }

  /** A tool's declared result schema. */
  outputSchema(name: string): JsonSchema | undefined {
    return this.find(name)?.definition.outputSchema;
  }

  /** Tools that the principal may call, in the order of registration. */
  async list(principal: Principal): Promise<McpTool[]> {
    return (await this.callable(principal)).map(toMcpTool);
  }

  /** The tools behind `list`. */
  async callable(principal: Principal): Promise<Tool[]> {
    if (!hasScope(principal, 'tools:call')) return [];
    const off = await this.switches.disabled(principal.tenant);
    const { allowed } = partTools(this.policies, this.tools.list(), { agent: null, principal });
    return allowed.filter(({ definition }) => !off.has(definition.name));
  }

  /** @throws AppError `FORBIDDEN`, and as `DirectCallService.call` */
  call(call: McpCall, name: string, args: Readonly<Record<string, unknown>>): Promise<McpToolAnswer> {
    const { principal } = call;
    assertScope(principal, 'tools:call');
    const task: McpTask<CallWithFiles, McpToolAnswer> = {
      subject: `tool:${name}`,
      start: async ({ onStart, ...watch }) => {
        const onCallStart = (run: RunHandle) => {
          this.access.record(principal, 'call', 'tool', name);
          onStart(run);
        };
        const wait = { signal: call.signal };
        const watching = { ...watch, onStart: onCallStart, wait };
        return this.withFiles(principal, await this.calls.call(principal, name, { arguments: args }, watching));
      },
      read: async (runId) => this.withFiles(principal, await this.calls.answer(principal, name, runId)),
      onItem: toolProgress(call),
      toResult: (answer) => toToolAnswer(answer, this.find(name)),
    };
    return this.runs.perform(call, task);
  }

  private async withFiles(principal: Principal, answer: DirectCallAnswer): Promise<CallWithFiles> {
    return { ...answer, contents: await this.calls.filesOf(principal, answer) };
  }

  private find(name: string): Tool | undefined {
    return this.tools.has(name) ? this.tools.get(name) : undefined;
  }
}
