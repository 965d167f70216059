import { Injectable } from '@nestjs/common';
import { DEFAULT_EXPIRY_MS } from '../../agent/definition/index.js';
import type { JsonValue } from '../../kernel/json/index.js';
import { ToolCallEngine, type ToolCallOutcome } from '../../reasoning/index.js';
import { journalUnavailable } from '../../run/context/index.js';
import { ToolRegistry } from '../../tool/index.js';
import { toolDisabled } from '../../tool/decision/index.js';
import type { Tool } from '../../tool/method/index.js';
import { ToolSwitchService } from '../../tool-policy/index.js';
import { CodeRegistry } from '../code/code.registry.js';
import type { Work } from '../definition/node.schema.js';
import { isOptional } from '../template/optional-field.policy.js';
import { compileTemplate, type MayOmit } from '../template/template.parser.js';
import { failedNode, thrownNode } from './node-outcome.factory.js';
import { NodeRunContext } from './node-run-context.js';
import type { NodeCost, NodeOutcome, NodeTask, WorkExecutor } from './node-task.types.js';

/** Calls a tool, or a method of the application, through the tool-call engine, with its rules for effects. */
@Injectable()
export class ToolNodeExecutor implements WorkExecutor<Work<'tool'> | Work<'code'>> {
  constructor(
    private readonly engine: ToolCallEngine,
    private readonly tools: ToolRegistry,
    private readonly code: CodeRegistry,
    private readonly switches: ToolSwitchService,
  ) {}

  async execute(work: Work<'tool'> | Work<'code'>, task: NodeTask): Promise<NodeOutcome> {
    const { run, number, path, signal, facts, workflow } = task;
    const context = new NodeRunContext(task);
    const name = work.type === 'tool' ? work.tool : work.code;
    const tool = work.type === 'tool' ? await this.find(name, signal) : this.code.find(name);
    const isOver = run.isRecorded({ kind: 'tool', place: `${number}/${path}:1` });
    if (!isOver && (await this.isOff(task, name))) return thrownNode(toolDisabled(name));
    const call = { id: path, name, arguments: JSON.stringify(argumentsOf(work, tool, task)) };
    const { maxOutputBytes: maxResultBytes } = workflow.limits;
    const outcome = await this.engine.run(
      { call, tool, maxResultBytes, waiting: { expiresMs: DEFAULT_EXPIRY_MS }, facts },
      context,
    );
    if (outcome.kind === 'postponed') return { status: 'waiting', requests: [], outage: outcome.outage };
    if (outcome.kind === 'waiting') {
      return { status: 'waiting', requests: outcome.requests.map((request) => context.withPlace(request)) };
    }
    const { result, failure, facts: read } = outcome;
    const end = { ...toCost(outcome), ...(read && { facts: read }) };
    if (failure) return { status: 'failed', error: failure, ...end };
    if (!result.success) return { ...failedNode(result.code, result.error), ...end };
    return { status: 'completed', output: { result: result.result }, ...end };
  }

  private async find(name: string, signal: AbortSignal): Promise<Tool | undefined> {
    await this.tools.arrived([name], signal);
    return this.tools.has(name) ? this.tools.get(name) : undefined;
  }

  private async isOff({ run }: NodeTask, name: string): Promise<boolean> {
    try {
      return (await this.switches.disabled(run.principal.tenant)).has(name);
    } catch (error) {
      throw journalUnavailable(run.runId, error);
    }
  }
}

/** Omits optional arguments without a value, because most tools refuse null for them. */
function argumentsOf(
  work: Work<'tool'> | Work<'code'>,
  tool: Tool | undefined,
  { scope, version }: NodeTask,
): JsonValue {
  const schema = tool?.definition.inputSchema;
  const mayOmit: MayOmit | undefined =
    schema && version > 1 ? (path, isNull) => isOptional(schema, path, isNull) : undefined;
  return compileTemplate(work.arguments).fill(scope, mayOmit);
}

function toCost({ usage, childrenUsage }: Extract<ToolCallOutcome, { kind: 'ended' }>): NodeCost {
  return { ...(usage && { usage }), ...(childrenUsage && { children_usage: childrenUsage }) };
}
