import { isDeepStrictEqual } from 'node:util';
import type { ToolCall } from '../../llm/index.js';
import type { RunContext } from '../../run/index.js';
import { cutText } from '../../tool/index.js';
import { requestId } from './waiting-request.factory.js';

/** JSON numbers with so many digits may be equal after parsing although they differ. */
const LONG_NUMBER = /\d{16}/;

/**
 * The call with the arguments of the person who approved it, if that person edited them; otherwise the call itself.
 * @param place the call's place in its run, `<iteration>:<call>`
 */
export function asApproved(run: RunContext, call: ToolCall, place: string): ToolCall {
  const decision = run.answer(requestId('approval', place));
  const edited = decision?.kind === 'approve' ? decision.arguments : undefined;
  return edited === undefined ? call : { ...call, arguments: edited };
}

/** Whether two texts of arguments have different values. Whitespace and the order of keys are ignored. */
export function areArgumentsChanged(original: string, edited: string): boolean {
  if (original === edited) return false;
  if (LONG_NUMBER.test(original) || LONG_NUMBER.test(edited)) return true;
  try {
    return !isDeepStrictEqual(JSON.parse(original), JSON.parse(edited));
  } catch {
    return true;
  }
}

/**
 * Prepends a note to the result of an edited call, since the model made the call with other arguments.
 * @param edited the arguments of the executed call, JSON on one line
 * @param maxBytes maximum size of the arguments in the note, in UTF-8 bytes
 */
export function withEditNote(content: string, edited: string, maxBytes: number): string {
  const shown = cutText(edited, maxBytes);
  return `[A person changed the arguments of this call to ${shown}. The following is the result of the changed call.]\n${content}`;
}
