import type { ToolCall, ToolChoice } from '../../llm/index.js';
import type { Loop } from '../reasoning.types.js';

/** What a reply must call: any tool, or the one of that name. */
export type WantedCall = Exclude<ToolChoice, 'auto' | 'none'>;

/** What the reply to the current request must call; nothing after the first, or the loop could not end. */
export function wantedCall({ request: { toolChoice }, iteration }: Loop): WantedCall | undefined {
  if (iteration > 1 || toolChoice === undefined || toolChoice === 'auto' || toolChoice === 'none') return undefined;
  return toolChoice;
}

/** Whether a reply with these calls has the wanted call. */
export function isCalled(loop: Loop, calls: readonly ToolCall[]): boolean {
  const wanted = wantedCall(loop);
  if (wanted === undefined) return true;
  return wanted === 'required' ? calls.length > 0 : calls.some(({ name }) => name === wanted.name);
}

/** What a model is told that cannot be made to call. */
export function commandTo(wanted: WantedCall): string {
  return `Your next reply must call ${describe(wanted)}.`;
}

export function describe(wanted: WantedCall): string {
  return wanted === 'required' ? 'a tool' : `the tool "${wanted.name}"`;
}
