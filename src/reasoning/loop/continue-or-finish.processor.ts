import { AppError, type ErrorCode } from '../../errors/index.js';
import type { FinishReason } from '../../llm/index.js';
import type { RunFinishReason, WaitingRequest } from '../../run/index.js';
import type { HandedAnswer, Loop } from '../reasoning.types.js';
import { Processor } from './processor.js';
import { isAtLimit } from './reply-fault.policy.js';

/** Error codes of calls that were denied, expired or not settled. */
const ENDING: ReadonlySet<ErrorCode> = new Set(['TOOL_DENIED', 'TOOL_EXPIRED', 'TOOL_OUTCOME_UNKNOWN']);

/** Decides whether the loop continues. */
export class ContinueOrFinishProcessor extends Processor {
  readonly name = 'continue-or-finish';

  async process(loop: Loop): Promise<void> {
    const failure = endingOf(loop);
    if (failure) throw failure;
    if (loop.waiting.size > 0) loop.end = { kind: 'waiting', requests: inOrder(loop.waiting) };
    else if (loop.handedTo) loop.end = handedOver(loop, loop.handedTo.answer);
    else if (loop.decoded!.calls.length === 0)
      loop.end = { kind: 'answered', finishReason: toRunReason(loop.reply!.finishReason) };
    else if (isAtLimit(loop)) loop.end = { kind: 'answered', finishReason: 'iteration_limit' };
  }
}

/** The other agent's answer ends the turn. */
function handedOver(loop: Loop, { text, finish_reason }: HandedAnswer): Loop['end'] {
  loop.turn.push({ role: 'assistant', content: text });
  return { kind: 'answered', finishReason: finish_reason };
}

/** The error that ends the run after a denied or expired call, if the rules of the request say so. */
export function endingOf({ request: { waiting }, results }: Loop): AppError | undefined {
  for (const result of results.values()) {
    if (result.success) continue;
    const { code, tool, error } = result;
    const rule = code === 'TOOL_DENIED' ? waiting?.onDenied : waiting?.onExpired;
    if (ENDING.has(code) && rule === 'end')
      return new AppError(code, `The call of tool "${tool}" ended the run: ${error}`);
  }
  return undefined;
}

function inOrder(waiting: ReadonlyMap<number, WaitingRequest>): readonly WaitingRequest[] {
  return [...waiting].toSorted(([a], [b]) => a - b).map(([, request]) => request);
}

function toRunReason(reason: FinishReason): RunFinishReason {
  switch (reason) {
    case 'length':
    case 'content_filter':
      return reason;
    case 'stop':
    case 'tool_calls':
      return 'stop';
  }
}
