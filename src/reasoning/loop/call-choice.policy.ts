import type { ToolCall, ToolChoice } from '../../llm/index.js';
import type { Loop } from '../reasoning.types.js';

/** Required call of a reply: any tool, or the named one. */
export type WantedCall = Exclude<ToolChoice, 'auto' | 'none'>;

/** Required call of the current reply. Only the first iteration has one; otherwise the loop could not end. */
export function wantedCall({ request: { toolChoice }, iteration }: Loop): WantedCall | undefined {
  if (iteration > 1 || toolChoice === undefined || toolChoice === 'auto' || toolChoice === 'none') return undefined;
  return toolChoice;
}

/** Whether these calls include the required call. */
export function isCalled(loop: Loop, calls: readonly ToolCall[]): boolean {
  const wanted = wantedCall(loop);
  if (wanted === undefined) return true;
  return wanted === 'required' ? calls.length > 0 : calls.some(({ name }) => name === wanted.name);
}

/** Instruction for a model that does not support forced calls. */
export function commandTo(wanted: WantedCall): string {
  return `Your next reply must call ${describe(wanted)}.`;
}

export function describe(wanted: WantedCall): string {
  return wanted === 'required' ? 'a tool' : `the tool "${wanted.name}"`;
}
