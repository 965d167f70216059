import { newId, type Principal } from '../../kernel/index.js';
import { type DataFact, isPrivate, isTainted } from '../../run/facts/index.js';
import type { ModelMeter } from '../../run/usage/index.js';
import type { CallSite, CheckedCall, SuspensionAnswer, ToolContext } from '../tool.types.js';
import type { AgentRules } from '../decision/agent-rules.types.js';
import type { HeldToolState } from '../stateful/tool-state.types.js';
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
  readonly isPrivate: boolean;
  /** Facts of the data that the model had read; visible to policies only. */
  readonly facts: readonly DataFact[];
  readonly answer?: SuspensionAnswer;
  readonly state?: HeldToolState;

  constructor(
    { tool, input }: CheckedCall,
    private readonly site: CallSite,
    readonly signal: AbortSignal = site.signal,
    state?: HeldToolState,
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
    this.facts = site.facts ?? (site.isTainted ? [{ fact: 'untrusted', step: 'input' }] : []);
    this.isTainted = isTainted(this.facts);
    this.isPrivate = isPrivate(this.facts);
    if (site.answer) this.answer = site.answer;
  }

  get rules(): AgentRules | undefined {
    return this.site.rules;
  }

  get learn(): CallSite['learn'] {
    return this.site.learn;
  }

  get meter(): ModelMeter | undefined {
    return this.site.meter;
  }

  get files(): CallSite['files'] {
    return this.site.files;
  }

  get note(): CallSite['note'] {
    return this.site.note;
  }

  get endsAt(): number | undefined {
    return this.site.endsAt;
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

/** Usage meter for model calls by built-in tools; undefined outside of a run. */
export function meterOf(context: ToolContext): ModelMeter | undefined {
  return context instanceof ToolRequest ? context.meter : undefined;
}

/** The value that a call records before its result; undefined outside of a run. */
export function noteOf(context: ToolContext): CallSite['note'] {
  return context instanceof ToolRequest ? context.note : undefined;
}

/** The deadline of the run's request, epoch ms; undefined without one. */
export function endsAtOf(context: ToolContext): number | undefined {
  return context instanceof ToolRequest ? context.endsAt : undefined;
}

/** Facts of the data that the model had read before the call. */
export function factsOf(context: ToolContext): readonly DataFact[] {
  return context instanceof ToolRequest ? context.facts : [];
}

/** Reports that the result of the call contains stored data with these facts. No effect outside of a run. */
export function learnFacts(context: ToolContext, facts: readonly DataFact[]): void {
  if (context instanceof ToolRequest && facts.length > 0) context.learn?.(facts);
}

/** Creates the context of a call outside of a run; missing fields get defaults. */
export function createCallSite(partial: Partial<CallSite> = {}): CallSite {
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
    ...partial,
  };
}
