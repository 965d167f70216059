import { Injectable } from '@nestjs/common';
import { AppError } from '../../errors/index.js';
import { type Principal } from '../../kernel/index.js';
import type { RunRecord } from '../../run/index.js';
import type { WaitingRequest } from '../../run/decision/index.js';
import { type CallSite, ToolExecutor, ToolRegistry } from '../../tool/index.js';
import type { PlannedCall } from '../../tool/decision/index.js';
import type { Tool } from '../../tool/method/index.js';
import { agentRules, CallApprovalStore, type WideScope } from '../../tool-policy/index.js';
import { parseStoredDefinition } from '../definition/agent-definition.schema.js';
import { AGENT_RUN } from '../sub-agent/sub-agent-tool.factory.js';
import { SubAgentTools } from '../offered-tools.service.js';

/** Checks whether a principal may decide on a call of another principal's run, and prepares approvals of later calls. */
@Injectable()
export class DecisionPermits {
  constructor(
    private readonly tools: ToolRegistry,
    private readonly executor: ToolExecutor,
    private readonly agentTools: SubAgentTools,
    private readonly approvals: CallApprovalStore,
  ) {}

  /** The id of an approval that covers later calls too, and the statements that store it. */
  prepareWide(decider: Principal, run: RunRecord, request: WaitingRequest, scope: WideScope) {
    return this.approvals.prepare(run, request, scope, decider);
  }

  /** @throws AppError `FORBIDDEN` for a principal that the approval rule does not name, or without permission for the call */
  async assertMayApprove(decider: Principal, run: RunRecord, request: WaitingRequest): Promise<void> {
    const refusal = ruleRefusal(decider, run.principal.id, request);
    if (refusal !== undefined) throw forbidden(request.tool, refusal);
    if (!request.by_roles) await this.assertMayCall(decider, run, request);
  }

  /**
   * Checks the call against the decider's roles and policies; a resumed run checks it against those of its own principal.
   * Where the tool is absent here, or its check of the arguments fails, the policies decide by the tool's name: another
   * process may have the tool.
   * @throws AppError `FORBIDDEN`
   */
  async assertMayCall(decider: Principal, run: RunRecord, request: WaitingRequest): Promise<void> {
    const { tool: name, arguments: args } = request;
    // The client executes the call by itself.
    if (request.by_client) return;
    const definition = run.kind === AGENT_RUN ? parseStoredDefinition(run.definition) : undefined;
    const site: CallSite = {
      principal: decider,
      agent: definition?.name ?? null,
      rules: definition && agentRules(definition),
      sessionId: run.sessionId,
      runId: run.id,
      callId: request.call_id,
      key: `${run.id}:${request.step}`,
      signal: new AbortController().signal,
      // The run itself decides about untrusted content.
      isTainted: false,
    };
    await this.tools.arrived([name], site.signal);
    const tools = this.toolsOf(run);
    const call = { name, arguments: args };
    let refusal = refusalOf(await this.executor.plan(call, tools, site));
    if (refusal && refusal.code !== 'TOOL_DENIED')
      refusal = refusalOf(await this.executor.plan(call, new Map([[name, unchecked(name, tools.get(name))]]), site));
    if (refusal?.code === 'TOOL_DENIED') throw forbidden(name, `may not be called by you. ${refusal.error}`);
  }

  /** The tools that a run's calls can name: those of the registry, and the agents that its agent can call. */
  toolsOf(run: RunRecord): ReadonlyMap<string, Tool> {
    const own = run.kind === AGENT_RUN ? this.agentTools.of(parseStoredDefinition(run.definition)) : [];
    return new Map([...own, ...this.tools.list()].map((one) => [one.definition.name, one]));
  }
}

/** Why the approval rule of a request does not name a principal; `undefined` if it does. @param owner of the run */
export function ruleRefusal(
  decider: Principal,
  owner: string | null,
  { by_another: isByAnother, by_roles: roles }: WaitingRequest,
): string | undefined {
  if (isByAnother && decider.id === owner) return 'needs the approval of a second person, and you started the run';
  if (roles && !roles.some((role) => decider.roles.includes(role)))
    return `needs the approval of a principal with the role ${roles.join(' or ')}`;
  return undefined;
}

function refusalOf(planned: PlannedCall) {
  return planned.kind === 'rejected' && !planned.result.success ? planned.result : undefined;
}

/** A tool that accepts all arguments, so that only policies decide; it is never invoked. */
function unchecked(name: string, tool: Tool | undefined): Tool {
  return {
    definition: tool?.definition ?? { name, description: '', inputSchema: { type: 'object' } },
    metadata: tool?.metadata ?? { effect: 'once', source: 'absent', egress: true, untrusted: true },
    validate: (value) => ({ valid: true, value }),
    invoke: () => undefined,
  };
}

function forbidden(tool: string, why: string): AppError {
  return new AppError('FORBIDDEN', `Nothing was decided: the tool "${tool}" ${why}.`, { details: { tool } });
}
