import type { ErrorCode } from '../../common/index.js';
import type { RunContext } from '../../run/index.js';
import type { Tool, ToolResult } from '../../tool/index.js';
import type { CalledRun } from '../reasoning.types.js';
import type { PlacedCall } from './waiting-request.factory.js';

/** Errors that our own words tell: the tool was not called, or what it said is not shown. */
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

/** How a result came about. */
export interface ResultOrigin {
  /** Whether the tool was called: then a denial is its own words. */
  readonly isCalled?: boolean;
  /** The run that the call was: what it answers is a stranger's if it has read strangers. */
  readonly child?: CalledRun | undefined;
}

/** Keeps, in the step of a call, that its result is a stranger's text: whatever the tool is when the run is replayed. */
export async function noteStrangers(
  placed: PlacedCall,
  result: ToolResult,
  { isCalled = false, child }: ResultOrigin,
): Promise<void> {
  const { loop, call, place } = placed;
  const isOurs = !result.success && OURS.has(result.code) && !(isCalled && result.code === 'TOOL_DENIED');
  const isForeign = loop.tools.get(call.name)?.metadata.untrusted === true && !isOurs;
  if (!isForeign && !child?.is_tainted) return;
  loop.isReadingStrangers = true;
  await loop.run.value(noteOf(place), () => true);
}

/** Whether a stranger describes one of the tools that the run is shown, or did so in an earlier execution; kept, too. */
export async function isToldByStrangers(run: RunContext, tools: readonly Tool[]): Promise<boolean> {
  const isTold = tools.some(({ metadata }) => metadata.untrustedDefinition) || isNoted(run, DESCRIPTIONS);
  // Nothing is kept where nothing is told: the journals of most runs are as they were.
  return isTold && run.value(noteOf(DESCRIPTIONS), () => true);
}

/** Whether an earlier execution kept that. */
export function readsStrangers({ loop, place }: PlacedCall): boolean {
  return isNoted(loop.run, place);
}

function isNoted(run: RunContext, place: string): boolean {
  return run.isRecorded({ kind: 'value', place: noteOf(place) });
}

/** The place of what is told of tools; those of calls are numbers. */
const DESCRIPTIONS = 'descriptions';

function noteOf(place: string): string {
  return `strangers:${place}`;
}
