import { Injectable, Logger, Optional } from '@nestjs/common';
import { AppError, messageOf } from '../common/index.js';
import { parseArguments } from './call/arguments.parser.js';
import { type CallOutcome, callBounded } from './call/bounded-call.executor.js';
import { cutText } from './call/cut-text.mapper.js';
import { parseReconciliation } from './call/reconciliation.parser.js';
import { failedResult, succeededResult } from './call/tool-result.factory.js';
import { decideCall } from './policy/approval.policy.js';
import { ToolPolicyRegistry } from './policy/tool-policy.registry.js';
import { Suspension } from './suspension.factory.js';
import type {
  CheckedCall,
  Invoked,
  PlannedCall,
  Reconciled,
  Reconciliation,
  RequestedCall,
  Tool,
  ToolContext,
  ToolInput,
  ToolResult,
} from './tool.types.js';

export interface InvokeOptions {
  /** The most bytes (UTF-8) of a result or an error that are kept; by default 65,536. */
  readonly maxResultBytes?: number;
}

const DEFAULT_MAX_RESULT_BYTES = 65_536;

/**
 * The one way a tool is called: `plan` decides, `invoke` does, `reconcile` finds out what became of a call that a crash
 * cut off. None of them throws: whatever goes wrong is a result that the model can read.
 */
@Injectable()
export class ToolExecutor {
  private readonly logger = new Logger('ToolExecutor');

  constructor(@Optional() private readonly policies: ToolPolicyRegistry = new ToolPolicyRegistry()) {}

  /**
   * Finds the tool among those of the run, checks the arguments, and asks the policies and the tool itself whether the
   * call may be made; nothing is called yet.
   */
  async plan(call: RequestedCall, tools: ReadonlyMap<string, Tool>, context: ToolContext): Promise<PlannedCall> {
    const checked = await this.check(call, tools);
    if (checked.kind === 'rejected') return checked;
    const decision = await decideCall(checked, context, this.policies.list());
    if (decision === 'allow') return checked;
    if ('approve' in decision) return { ...checked, kind: 'approval', reason: decision.approve };
    return { kind: 'rejected', result: failedResult(call.name, 'TOOL_DENIED', `Denied: ${decision.deny}`) };
  }

  /** Finds the tool and checks the arguments; whether the call may be made is not asked. */
  async check(
    call: RequestedCall,
    tools: ReadonlyMap<string, Tool>,
  ): Promise<Exclude<PlannedCall, { kind: 'approval' }>> {
    const rejected = (code: 'TOOL_NOT_FOUND' | 'TOOL_INVALID_ARGUMENTS' | 'TOOL_FAILED', error: string) =>
      ({ kind: 'rejected', result: failedResult(call.name, code, error) }) as const;
    const tool = tools.get(call.name);
    if (!tool) return rejected('TOOL_NOT_FOUND', unknownTool(call.name, tools));
    const parsed = parseArguments(call.arguments);
    if (!parsed.ok) return rejected('TOOL_INVALID_ARGUMENTS', parsed.reason);
    let input: ToolInput;
    try {
      input = await tool.validate(parsed.value);
    } catch (error) {
      this.warn(call.name, error);
      return rejected('TOOL_FAILED', `The check of the arguments failed: ${messageOf(error)}`);
    }
    if (!input.valid) return rejected('TOOL_INVALID_ARGUMENTS', `Invalid arguments: ${input.reason}`);
    return { kind: 'run', tool, input: input.value };
  }

  /** Calls the tool within its time and the run's signal. */
  async invoke({ tool, input }: CheckedCall, context: ToolContext, options: InvokeOptions = {}): Promise<Invoked> {
    const started = performance.now();
    const outcome = await callBounded(
      (signal) => tool.invoke(input, signal === context.signal ? context : { ...context, signal }),
      context.signal,
      tool.metadata.timeoutMs,
    );
    if (outcome.kind === 'returned' && outcome.value instanceof Suspension) {
      return { kind: 'suspended', asked: outcome.value.asked };
    }
    const elapsedMs = Math.round(performance.now() - started);
    return { kind: 'result', result: this.toResult(tool, outcome, maxBytesOf(options), elapsedMs) };
  }

  /** Asks the tool what became of a call that was begun before a crash; `unknown` when it cannot tell. */
  async reconcile(tool: Tool, context: ToolContext, options: InvokeOptions = {}): Promise<Reconciled> {
    if (!tool.reconcile) return { kind: 'unknown' };
    const outcome = await callBounded(
      (signal) => tool.reconcile?.(context.key, { ...context, signal }),
      context.signal,
      tool.metadata.timeoutMs,
    );
    const told = outcome.kind === 'returned' ? parseReconciliation(outcome.value) : undefined;
    if (told) return this.toReconciled(tool, told, maxBytesOf(options));
    if (outcome.kind !== 'cancelled')
      this.logger.warn(`The reconcile of tool "${tool.definition.name}" told nothing: ${whyNot(outcome)}`);
    return { kind: 'unknown' };
  }

  private toReconciled(tool: Tool, told: Reconciliation, maxBytes: number): Reconciled {
    const { name } = tool.definition;
    switch (told.outcome) {
      case 'succeeded':
        return { kind: 'result', result: this.returned(name, told.result, maxBytes, 0) };
      case 'failed':
        return { kind: 'result', result: failedResult(name, 'TOOL_FAILED', cutText(told.error, maxBytes)) };
      case 'not_happened':
      case 'unknown':
        return { kind: told.outcome };
    }
  }

  private toResult(tool: Tool, outcome: CallOutcome, maxBytes: number, elapsedMs: number): ToolResult {
    const { name } = tool.definition;
    switch (outcome.kind) {
      case 'returned':
        return this.returned(name, outcome.value, maxBytes, elapsedMs);
      case 'threw':
        this.warn(name, outcome.error);
        return failedResult(name, 'TOOL_FAILED', cutText(messageOf(outcome.error), maxBytes), elapsedMs);
      case 'timed_out':
        return failedResult(
          name,
          'TOOL_TIMEOUT',
          `The tool did not finish within ${outcome.timeoutMs} ms.${doubt(tool)}`,
          elapsedMs,
        );
      case 'cancelled':
        return failedResult(
          name,
          'TOOL_CANCELLED',
          `The call was cancelled before it finished.${doubt(tool)}`,
          elapsedMs,
        );
    }
  }

  private returned(name: string, returned: unknown, maxBytes: number, elapsedMs: number): ToolResult {
    try {
      return succeededResult(name, returned, maxBytes, elapsedMs);
    } catch (error) {
      this.warn(name, error);
      return failedResult(name, 'TOOL_FAILED', messageOf(error), elapsedMs);
    }
  }

  /** Errors of ours were thrown on purpose and say all in their message; of others the stack is wanted. */
  private warn(name: string, error: unknown): void {
    const detail = error instanceof Error && !(error instanceof AppError) ? error.stack : undefined;
    this.logger.warn(`Tool "${name}" failed: ${detail ?? messageOf(error)}`);
  }
}

function maxBytesOf({ maxResultBytes = DEFAULT_MAX_RESULT_BYTES }: InvokeOptions): number {
  return maxResultBytes;
}

function whyNot(outcome: Exclude<CallOutcome, { kind: 'cancelled' }>): string {
  switch (outcome.kind) {
    case 'returned':
      return 'it gave none of the answers that it may give';
    case 'threw':
      return messageOf(outcome.error);
    case 'timed_out':
      return `it took longer than ${outcome.timeoutMs} ms`;
  }
}

function unknownTool(name: string, tools: ReadonlyMap<string, Tool>): string {
  const available = tools.size > 0 ? `Available tools: ${[...tools.keys()].join(', ')}.` : 'No tools are available.';
  return `Unknown tool "${name}". ${available}`;
}

/** A tool that was given up on may go on; only a reading one leaves nothing behind. */
function doubt(tool: Tool): string {
  return tool.metadata.effect === 'read' ? '' : ' It may have taken effect all the same.';
}
