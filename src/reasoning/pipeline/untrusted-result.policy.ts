import type { ErrorCode } from '../../common/index.js';
import type { RunContext } from '../../run/index.js';
import type { Tool, ToolResult } from '../../tool/index.js';
import type { CalledRun } from '../reasoning.types.js';
import type { PlacedCall } from './waiting-request.factory.js';

/** Errors whose text is our own: the tool was not called, or its output is withheld. */
const OURS: ReadonlySet<ErrorCode> = new Set([
  'TOOL_NOT_FOUND',
  'TOOL_INVALID_ARGUMENTS',
  'TOOL_DENIED',
  'TOOL_DISABLED',
  'TOOL_EXPIRED',
  'TOOL_RATE_LIMITED',
  'TOOL_RESULT_BLOCKED',
  'TOOL_CANCELLED',
]);

/** Origin of a result. */
export interface ResultOrigin {
  /** Whether the tool was called; `TOOL_DENIED` is then the tool's own text. */
  readonly isCalled?: boolean;
  /** The run of the call; its answer is untrusted if that run has read untrusted content. */
  readonly child?: CalledRun | undefined;
}

/** Records in the journal that a call's result is untrusted: a replay does not depend on the current tool. */
export async function recordUntrusted(
  placed: PlacedCall,
  result: ToolResult,
  { isCalled = false, child }: ResultOrigin,
): Promise<void> {
  const { loop, call, place } = placed;
  const isOurs = !result.success && OURS.has(result.code) && !(isCalled && result.code === 'TOOL_DENIED');
  const isForeign = loop.tools.get(call.name)?.metadata.untrusted === true && !isOurs;
  if (!isForeign && !child?.is_tainted) return;
  loop.isReadingUntrusted = true;
  await loop.run.value(noteOf(place), () => true);
}

/** Whether an untrusted source describes a tool of the run, now or in an earlier execution; records it. */
export async function hasUntrustedTool(run: RunContext, tools: readonly Tool[]): Promise<boolean> {
  const isTold = tools.some(({ metadata }) => metadata.untrustedDefinition) || isNoted(run, DESCRIPTIONS);
  // Runs without such a tool record nothing.
  return isTold && run.value(noteOf(DESCRIPTIONS), () => true);
}

/** Whether an earlier execution recorded an untrusted result for this call. */
export function readUntrusted({ loop, place }: PlacedCall): boolean {
  return isNoted(loop.run, place);
}

function isNoted(run: RunContext, place: string): boolean {
  return run.isRecorded({ kind: 'value', place: noteOf(place) });
}

/** Place of the record for tool descriptions; places of calls begin with a number. */
const DESCRIPTIONS = 'descriptions';

function noteOf(place: string): string {
  return `strangers:${place}`;
}
