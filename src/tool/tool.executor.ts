import { Inject, Injectable, Optional } from '@nestjs/common';
import { Log, messageOf } from '../errors/index.js';
import { ConfiguredSecrets } from '../config/index.js';
import { agentConfig, type AgentConfig } from '../config/namespaces/index.js';
import { parseArguments } from './call/arguments.parser.js';
import { type Admission, CallPlace, enterPlace, isQueueTimeout, queueTimeoutOf } from './call/call-place.policy.js';
import { type CallOutcome, callBounded, whyNot } from './call/bounded-call.executor.js';
import { invocationOf, reconciliationOf } from './call/direct-call.executor.js';
import { CallResults, withoutState } from './call/call-results.mapper.js';
import { type InvokeOptions, maxBytesOf, ResultLimits } from './call/result-limits.policy.js';
import { parseReconciliation } from './call/reconciliation.parser.js';
import { readReturned } from './call/returned-value.js';
import { type PlannedCall, ToolLogFilter, ToolPolicyRegistry } from './decision/tool-policy.js';
import { ToolRequest } from './call/tool-request.factory.js';
import { cancelledBeforeStart, failedResult, unknownTool } from './result/tool-result.factory.js';
import { decideCall, needOf } from './decision/approval.policy.js';
import { toCallEnd } from './stateful/call-end.mapper.js';
import { type StatefulCall, StatefulCalls } from './stateful/stateful-calls.js';
import type { ChangedState, StoredState } from './stateful/stored-state.types.js';
import { RecordedTools } from './wrappers/recorded-tool.wrapper.js';
import { Suspension, UnknownOutcome } from './suspension.factory.js';
import { toolDisabled, ToolSwitch } from './decision/tool-switch.js';
import type {
  CallResources,
  CallSite,
  CheckedCall,
  Invoked,
  Reconciled,
  Reconciliation,
  RequestedCall,
  Tool,
  ToolInput,
  ToolResult,
} from './tool.types.js';

/** Limits of the results of all tools. */
export type ToolResultConfig = Pick<AgentConfig, 'maxImageBytes' | 'maxFileBytes'>;

/**
 * Executes all tool calls: `plan` decides, `invoke` calls, `reconcile` determines the outcome of a call that a crash
 * interrupted. None of the three throws: every error becomes a result that the model can read.
 */
@Injectable()
export class ToolExecutor {
  private readonly logger = new Log('ToolExecutor');
  /** Maximum size of all images of one result, in bytes. */
  readonly maxImageBytes: number;
  /** Set if a cassette has the outcomes of tools. */
  @Inject(RecordedTools) @Optional() private readonly recorded?: RecordedTools | null;
  private readonly limits: ResultLimits;
  private readonly results: CallResults;

  /**
   * @param filters redacts thrown errors in the log
   * @param secrets masked in errors
   */
  constructor(
    private readonly policies: ToolPolicyRegistry,
    private readonly switches: ToolSwitch,
    private readonly states: StatefulCalls,
    @Inject(agentConfig.KEY) config: ToolResultConfig,
    private readonly filters: ToolLogFilter,
    secrets: ConfiguredSecrets,
  ) {
    this.maxImageBytes = config.maxImageBytes;
    this.limits = new ResultLimits(config.maxFileBytes);
    this.results = new CallResults(this.logger, this.maxImageBytes, secrets.values);
  }

  /**
   * Finds the tool among those of the run and checks its switch and the arguments. Asks the policies and the tool's own
   * approval rule. Does not call the tool.
   */
  async plan(call: RequestedCall, tools: ReadonlyMap<string, Tool>, site: CallSite): Promise<PlannedCall> {
    const off = await this.switchedOff(call.name, site);
    if (off) return { kind: 'rejected', result: off };
    const checked = await this.check(call, tools);
    if (checked.kind === 'rejected') return checked;
    const { decision, ...decided } = await decideCall(checked, new ToolRequest(checked, site), this.policies.list());
    const notes = decided.notes.length > 0 && decided;
    if (decision === 'allow') return { ...checked, ...notes };
    if ('approve' in decision) return { ...checked, kind: 'approval', ...needOf(decision), ...notes };
    return { kind: 'rejected', result: failedResult(call.name, 'TOOL_DENIED', `Denied: ${decision.deny}`), ...notes };
  }

  /** Finds the tool and checks the arguments, without policies. */
  async check(
    call: RequestedCall,
    tools: ReadonlyMap<string, Tool>,
  ): Promise<Exclude<PlannedCall, { kind: 'approval' }>> {
    const rejected = (code: 'TOOL_NOT_FOUND' | 'TOOL_INVALID_ARGUMENTS' | 'TOOL_FAILED', error: string) =>
      ({ kind: 'rejected', result: failedResult(call.name, code, error) }) as const;
    const own = tools.get(call.name);
    const tool = own && (this.recorded?.of(own) ?? own);
    if (!tool) return rejected('TOOL_NOT_FOUND', unknownTool(call.name, tools));
    const parsed = parseArguments(call.arguments);
    if (!parsed.ok) return rejected('TOOL_INVALID_ARGUMENTS', parsed.reason);
    let input: ToolInput;
    try {
      input = await tool.validate(parsed.value);
    } catch (error) {
      const { message } = this.results.warn(call.name, error);
      return rejected('TOOL_FAILED', `The check of the arguments failed: ${message}`);
    }
    if (!input.valid) {
      const { reason, mistakes } = input;
      return { ...rejected('TOOL_INVALID_ARGUMENTS', `Invalid arguments: ${reason}`), ...(mistakes && { mistakes }) };
    }
    return { kind: 'run', tool, input: input.value };
  }

  /** Resources of a call according to its tool; empty for invalid arguments. */
  async resources(tool: Tool, call: RequestedCall): Promise<CallResources> {
    const { definition, metadata } = tool;
    const { resources = [], effect } = metadata;
    const isChanging = effect !== 'read';
    if (typeof resources !== 'function') return { names: resources, isChanging };
    const checked = await this.check(call, new Map([[definition.name, tool]]));
    if (checked.kind === 'rejected') return { names: [], isChanging };
    try {
      return { names: resources(checked.input as never), isChanging };
    } catch (error) {
      this.results.warnReason(`The resources function of tool "${definition.name}" threw`, messageOf(error));
      return { names: [definition.name], isChanging };
    }
  }

  /** Maximum wait of a call for its turn, in ms. */
  queueTimeout(tool: Tool | undefined): number {
    return queueTimeoutOf(tool);
  }

  /**
   * Waits for the call's turn; a cached result needs none. The place must be passed to `invoke`, or closed.
   * @param mayWaitMs maximum wait, in ms; default: the tool's `queueTimeoutMs`
   * @returns the result instead, if the call does not start
   */
  async admit(call: CheckedCall, site: CallSite, mayWaitMs?: number): Promise<Admission> {
    const { tool } = call;
    try {
      const recalled = tool.places && (await tool.recall?.(new ToolRequest(call, site)));
      return { place: recalled ? new CallPlace(undefined, recalled) : await enterPlace(tool, site.signal, mayWaitMs) };
    } catch (error) {
      const { name } = tool.definition;
      if (site.signal.aborted) return { result: cancelledBeforeStart(name) };
      if (isQueueTimeout(error)) return { result: failedResult(name, error.code, error.message) };
      return { result: this.results.thrown(call, error, maxBytesOf({}), 0, this.logFilter(site)) };
    }
  }

  /** Calls the tool within its time limit and the run's signal. */
  async invoke(call: CheckedCall, site: CallSite, options: InvokeOptions = {}): Promise<Invoked> {
    if (options.place) return this.invokeAt(options.place, call, site, options);
    const admission = await this.admit(call, site);
    if ('result' in admission) return { kind: 'result', ...admission };
    try {
      return await this.invokeAt(admission.place, call, site, options);
    } finally {
      admission.place.close();
    }
  }

  private async invokeAt(
    place: CallPlace,
    call: CheckedCall,
    site: CallSite,
    options: InvokeOptions,
  ): Promise<Invoked> {
    const { tool } = call;
    if (!tool.metadata.state) return this.make(place, call, site, options);
    let held: StatefulCall;
    try {
      held = await this.states.open(tool, call.input, site);
    } catch (error) {
      return { kind: 'result', result: this.results.thrown(call, error, maxBytesOf(options), 0, this.logFilter(site)) };
    }
    const done = await this.make(place, call, site, options, held);
    if (done.kind !== 'result') return done;
    return this.keep(tool, held, done, { ...options, site });
  }

  /** Stores the state of a call. A storage error makes the call fail. */
  private async keep<Done extends { readonly result: ToolResult }>(
    tool: Tool,
    held: StatefulCall,
    done: Done,
    { site, ...options }: InvokeOptions & { readonly site: CallSite },
  ): Promise<Done & { readonly storedState: StoredState }> {
    try {
      return { ...done, storedState: await held.record(toCallEnd(done.result)) };
    } catch (error) {
      const { execution_time_ms } = done.result;
      const result = this.results.thrown({ tool }, error, maxBytesOf(options), execution_time_ms, this.logFilter(site));
      return { ...done, whole: undefined, files: undefined, result, storedState: held.recordFailed(toCallEnd(result)) };
    }
  }

  private logFilter({ rules }: CallSite) {
    return this.filters.logFilter(rules);
  }

  /** Applies the recorded state change of a replayed call to a state that is not durable. */
  async replayed(tool: Tool, site: CallSite, changed: ChangedState): Promise<void> {
    if (tool.metadata.state) await this.states.replayed(tool, site, changed);
  }

  private async make(
    place: CallPlace,
    call: CheckedCall,
    site: CallSite,
    options: InvokeOptions,
    held?: StatefulCall,
  ): Promise<Invoked> {
    const { tool } = call;
    const started = performance.now();
    const invokeTool = invocationOf(call, site, place, held, readReturned);
    const outcome: CallOutcome = place.recalled
      ? { kind: 'returned', value: place.recalled.value }
      : await callBounded(invokeTool, site.signal, tool.metadata.timeoutMs);
    if (outcome.kind === 'returned' && outcome.value instanceof Suspension) {
      return { kind: 'suspended', suspension: outcome.value.asked };
    }
    if (outcome.kind === 'returned' && outcome.value instanceof UnknownOutcome) {
      return undecided(tool, outcome.value);
    }
    const elapsedMs = Math.round(performance.now() - started);
    const ended = withoutState(held, outcome);
    const filter = this.logFilter(site);
    const made = await this.results.of(call, ended, this.limits.of(options), elapsedMs, place.isStarted, filter);
    return { kind: 'result', ...made };
  }

  /**
   * Asks the tool for the outcome of a call that was started before a crash; `unknown` if the tool cannot determine it.
   * The reported result of a finished call changes the state as the call would have.
   */
  async reconcile(tool: Tool, site: CallSite, options: InvokeOptions = {}): Promise<Reconciled> {
    if (!tool.reconcile) return { kind: 'unknown' };
    if (!tool.metadata.state) return this.findOut(tool, site, options);
    let held: StatefulCall;
    try {
      held = await this.states.open(tool, undefined, site);
    } catch (error) {
      this.results.warn(tool.definition.name, error);
      return { kind: 'unknown' };
    }
    const found = await this.findOut(tool, site, options, held);
    return found.kind === 'result' ? this.keep(tool, held, found, { ...options, site }) : found;
  }

  private async findOut(tool: Tool, site: CallSite, options: InvokeOptions, held?: StatefulCall): Promise<Reconciled> {
    const outcome = await callBounded(reconciliationOf(tool, site, held), site.signal, tool.metadata.timeoutMs);
    const reconciliation = outcome.kind === 'returned' ? parseReconciliation(outcome.value) : undefined;
    if (reconciliation) return this.reconciled(tool, reconciliation, options, held);
    if (outcome.kind !== 'cancelled')
      this.results.warnReason(`The reconcile of tool "${tool.definition.name}" returned no outcome`, whyNot(outcome));
    return { kind: 'unknown' };
  }

  /** Error result for a disabled tool or an unreadable switch; undefined for an enabled tool. */
  private async switchedOff(name: string, { principal }: CallSite): Promise<ToolResult | undefined> {
    try {
      const off = await this.switches.disabled(principal.tenant);
      return off.has(name) ? failedResult(name, 'TOOL_DISABLED', toolDisabled(name).message) : undefined;
    } catch (error) {
      this.results.warn(name, error);
      return failedResult(name, 'TOOL_FAILED', 'Whether the tool is switched off could not be read: try it again.');
    }
  }

  private async reconciled(
    tool: Tool,
    found: Reconciliation,
    options: InvokeOptions,
    held?: StatefulCall,
  ): Promise<Reconciled> {
    const { name } = tool.definition;
    switch (found.outcome) {
      case 'succeeded': {
        const returned = withoutState(held, { kind: 'returned', value: found.result });
        return {
          kind: 'result',
          ...(await this.results.of({ tool }, returned, this.limits.of(options), 0, true)),
        };
      }
      case 'failed':
        return { kind: 'result', result: this.results.reportedFailure(name, found.error, maxBytesOf(options)) };
      case 'not_happened':
      case 'unknown':
        return { kind: found.outcome };
    }
  }
}

/** A person can settle only a claimed call (effect `once`). */
function undecided({ definition, metadata }: Tool, { reason }: UnknownOutcome): Invoked {
  if (metadata.effect === 'once') return { kind: 'unknown', reason };
  return { kind: 'result', result: failedResult(definition.name, 'TOOL_OUTCOME_UNKNOWN', reason) };
}
