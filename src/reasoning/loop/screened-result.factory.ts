import type { RunEvent } from '../../run/event/index.js';
import type { ContentFilter } from '../../security/content/index.js';
import type { CallSite, ToolResult } from '../../tool/index.js';
import { failedResult, type SucceededCall, withValue } from '../../tool/result/index.js';
import type { CallLoop } from '../reasoning.types.js';
import type { PlacedCall } from './waiting-request.factory.js';

type Applied = Extract<RunEvent, { readonly type: 'policy.decided'; readonly policy: string }>;

/** Emits an event that content was masked or blocked, with the kinds of matches but never the content. */
export function emitContentDecision(
  { run, iteration }: CallLoop,
  about: Pick<Applied, 'on' | 'call_id' | 'tool'>,
  { kind, names }: { readonly kind: 'masked' | 'blocked'; readonly names: readonly string[] },
): void {
  run.emit({
    type: 'policy.decided',
    policy: 'content',
    decision: kind,
    iteration,
    ...about,
    reason: `it holds ${names.join(', ')}`,
    found: names,
  });
}

/** Filters a result before the model, the journal and clients receive it; emits an event if the filter matched. */
export function screenResult(
  filter: ContentFilter | null,
  { loop, call }: PlacedCall,
  given: SucceededCall,
): SucceededCall {
  if (!filter) return given;
  const { result, whole } = given;
  const filtered = filter.json(result.success ? (whole ?? result.result) : result.error);
  if (filtered.kind === 'clean') return { ...given, result: withCleanText(filter, result) };
  emitContentDecision(loop, { on: 'result', call_id: call.id, tool: call.name }, filtered);
  if (filtered.kind === 'blocked') {
    const error = `The call was made, but its result is withheld: it holds ${filtered.names.join(', ')}.`;
    return { result: failedResult(result.tool, 'TOOL_RESULT_BLOCKED', error, result.execution_time_ms) };
  }
  // Truncate after filtering, so that the truncated result contains no part of a match.
  if (result.success) {
    return { ...withValue(result, filtered.value, loop.request.limits.maxResultBytes), files: given.files ?? [] };
  }
  return { result: { ...result, error: filtered.value as string } };
}

/** Without a text for the model that the filter matches: the model then gets the value. */
function withCleanText(filter: ContentFilter, result: ToolResult): ToolResult {
  if (!result.success || (result.note ?? result.text) === undefined) return result;
  const { note, text, ...rest } = result;
  return filter.json([note ?? '', text ?? '']).kind === 'clean' ? result : rest;
}

type Progress = Parameters<NonNullable<CallSite['report']>>[0];

/** The site of a call with a filter for its progress reports. */
export function withScreenedProgress(filter: ContentFilter | null, site: CallSite): CallSite {
  return filter ? { ...site, report: (progress) => site.report?.(screenProgress(filter, progress)) } : site;
}

function screenProgress(filter: ContentFilter, { message, ...progress }: Progress): Progress {
  const filtered = filter.text(message ?? '');
  if (message === undefined || filtered.kind === 'blocked') return progress;
  return { ...progress, message: filtered.kind === 'masked' ? filtered.value : message };
}
