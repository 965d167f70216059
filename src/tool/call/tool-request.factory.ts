import { newId, type Principal } from '../../common/index.js';
import type { ModelMeter } from '../../run/index.js';
import type { CallSite, CheckedCall, SuspensionAnswer, ToolContext } from '../tool.types.js';
import type { AgentRules } from '../policy/agent-rules.factory.js';
import type { ToolStateHandle } from '../state/tool-state-handle.factory.js';
import { ToolLogger } from './tool-logger.factory.js';

/**
 * One tool call with its context. A tool method receives it as `ToolContext`, a request-scoped provider as `REQUEST`, a
 * guard by `ToolExecutionContext`.
 */
export class ToolRequest implements ToolContext {
  readonly tool: string;
  readonly arguments: unknown;
  readonly principal: Principal;
  readonly agent: string | null;
  readonly sessionId: string | null;
  readonly runId: string;
  readonly callId: string;
  readonly key: string;
  readonly isTainted: boolean;
  readonly answer?: SuspensionAnswer;
  readonly state?: ToolStateHandle;

  constructor(
    { tool, input }: CheckedCall,
    private readonly site: CallSite,
    readonly signal: AbortSignal = site.signal,
    state?: ToolStateHandle,
  ) {
    if (state) this.state = state;
    this.tool = tool.definition.name;
    this.arguments = input;
    this.principal = site.principal;
    this.agent = site.agent;
    this.sessionId = site.sessionId;
    this.runId = site.runId;
    this.callId = site.callId;
    this.key = site.key;
    this.isTainted = site.isTainted;
    if (site.answer) this.answer = site.answer;
  }

  get rules(): AgentRules | undefined {
    return this.site.rules;
  }

  get meter(): ModelMeter | undefined {
    return this.site.meter;
  }

  get tenant(): string {
    return this.principal.tenant;
  }

  get logger(): ToolLogger {
    return new ToolLogger(this.tool, this);
  }

  progress(progress: number, total?: number, message?: string): void {
    this.site.report?.({ progress, ...(total !== undefined && { total }), ...(message !== undefined && { message }) });
  }
}

/** Rules of the calling agent; visible to policies only. */
export function rulesOf(context: ToolContext): AgentRules | undefined {
  return context instanceof ToolRequest ? context.rules : undefined;
}

/** Usage meter for model calls by built-in tools; undefined outside of a run. */
export function meterOf(context: ToolContext): ModelMeter | undefined {
  return context instanceof ToolRequest ? context.meter : undefined;
}

/** Creates the context of a call outside of a run; missing fields get defaults. */
export function createCallSite(given: Partial<CallSite> = {}): CallSite {
  const id = newId();
  return {
    principal: { id: 'local', tenant: 'default', roles: [] },
    agent: null,
    sessionId: null,
    runId: id,
    callId: id,
    key: id,
    signal: new AbortController().signal,
    isTainted: false,
    ...given,
  };
}
