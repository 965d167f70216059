import type { ToolCall } from '../../llm/index.js';
import type { RunContext } from '../../run/index.js';
import { requestId } from './waiting-request.factory.js';

/**
 * A call as it is really made: with the arguments of the person who approved it, where those are others.
 * @param place the call's place in its run, `<iteration>:<call>`
 */
export function asApproved(run: RunContext, call: ToolCall, place: string): ToolCall {
  const decision = run.answer(requestId('approval', place));
  const edited = decision?.kind === 'approve' ? decision.arguments : undefined;
  return edited === undefined ? call : { ...call, arguments: edited };
}
