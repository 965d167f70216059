import { AppError } from '../../errors/index.js';
import type { Decision, WaitingKind } from '../../run/decision/index.js';
import type { ToolResult } from '../../tool/index.js';
import { cutText, failedResult, succeededResult } from '../../tool/result/index.js';

/**
 * The result of a call that a decision ends without a further invocation, as text for the model.
 * @param about kind of the decided request
 * @param maxBytes maximum size of a result or an error, in UTF-8 bytes
 */
export function decidedResult(tool: string, about: WaitingKind, decision: Decision, maxBytes: number): ToolResult {
  switch (decision.kind) {
    case 'deny':
      return failedResult(tool, 'TOOL_DENIED', cutText(deniedBy(decision.by, decision.reason), maxBytes));
    case 'expire':
      return expired(tool, about);
    case 'settle':
      return settled(tool, decision, maxBytes);
    case 'approve':
    case 'input':
    case 'join':
    case 'release':
      throw unfit(tool, decision);
  }
}

/** The result of a call with an unknown outcome that was not settled. */
export function outcomeUnknown(tool: string): ToolResult {
  const error = 'The outcome is unknown: the server stopped while the call was in progress.';
  return failedResult(tool, 'TOOL_OUTCOME_UNKNOWN', error);
}

/** A call without a result because its run failed, was cancelled or timed out. */
export function withoutResult(tool: string, failure: AppError, isStarted: boolean): ToolResult {
  const state = isStarted ? 'Stopped before its result; it may have taken effect' : 'Not executed';
  return failedResult(tool, 'TOOL_CANCELLED', `${state}: ${failure.message}`);
}

/** Whether the call did not complete, so that the model may repeat it unchanged. */
export function isNotExecuted({ code, error }: Extract<ToolResult, { success: false }>): boolean {
  return code === 'TOOL_CANCELLED' || (code === 'TOOL_TIMEOUT' && error.startsWith('Not executed'));
}

/** Whether a call stopped only because the run continues in another execution; it then has no result yet. */
export function isInterrupted(done: ToolResult, signal: AbortSignal): boolean {
  if (done.success || done.code !== 'TOOL_CANCELLED' || !(signal.reason instanceof AppError)) return false;
  return signal.reason.code !== 'RUN_CANCELLED' && signal.reason.code !== 'RUN_TIMEOUT';
}

/** Follows the error of a repeated call, which a model would otherwise repeat until the limit. */
export const REMINDER = ' You made the same call before and it failed: change its arguments, or answer without it.';

export function withReminder(done: ToolResult): ToolResult {
  if (done.success) return done;
  return { ...done, error: `${done.error}${REMINDER}` };
}

function settled(tool: string, decision: Extract<Decision, { kind: 'settle' }>, maxBytes: number): ToolResult {
  switch (decision.outcome) {
    case 'succeeded':
      return succeededResult(tool, decision.result, maxBytes);
    case 'failed':
      return failedResult(tool, 'TOOL_FAILED', cutText(decision.error, maxBytes));
    case 'retry':
      throw unfit(tool, decision);
  }
}

function unfit(tool: string, { kind }: Pick<Decision, 'kind'>): AppError {
  return new AppError('INTERNAL', `A call of tool "${tool}" is not over by the decision "${kind}".`);
}

function deniedBy(by: string | null, reason: string | undefined): string {
  return `Denied by ${by ?? 'an unknown person'}${reason === undefined ? '.' : `: ${reason}`}`;
}

function expired(tool: string, about: WaitingKind): ToolResult {
  switch (about) {
    case 'approval':
      return failedResult(tool, 'TOOL_EXPIRED', 'Not executed: the approval request expired.');
    case 'input':
      return failedResult(tool, 'TOOL_EXPIRED', 'Not completed: the question of the tool expired without an answer.');
    case 'outcome_unknown':
      return outcomeUnknown(tool);
    case 'child':
    case 'restored':
      throw unfit(tool, { kind: 'expire' });
  }
}
