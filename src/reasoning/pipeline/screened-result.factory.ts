import type { ContentFilter } from '../../security/index.js';
import { failedResult, withValue, type CallSite, type SucceededCall } from '../../tool/index.js';
import { tellContent } from './content-note.factory.js';
import type { PlacedCall } from './waiting-request.factory.js';

/** A result as the model, the journal and everybody else may have it; told, where that is not as the tool gave it. */
export function screenResult(
  filter: ContentFilter | null,
  { loop, call }: PlacedCall,
  given: SucceededCall,
): SucceededCall {
  if (!filter) return given;
  const { result, whole } = given;
  const filtered = filter.json(result.success ? (whole ?? result.result) : result.error);
  if (filtered.kind === 'clean') return given;
  tellContent(loop, { on: 'result', call_id: call.id, tool: call.name }, filtered);
  if (filtered.kind === 'blocked') {
    const error = `The call was made, but its result is withheld: it holds ${filtered.names.join(', ')}.`;
    return { result: failedResult(result.tool, 'TOOL_RESULT_BLOCKED', error, result.execution_time_ms) };
  }
  // Cut anew: what is found must not stand in the cut one by half.
  if (result.success) return withValue(result, filtered.value, loop.request.limits.maxResultBytes);
  return { result: { ...result, error: filtered.value as string } };
}

type Progress = Parameters<NonNullable<CallSite['report']>>[0];

/** How far a call has come, without what its words may not tell. */
export function screenProgress(filter: ContentFilter, { message, ...progress }: Progress): Progress {
  const filtered = filter.text(message ?? '');
  if (message === undefined || filtered.kind === 'blocked') return progress;
  return { ...progress, message: filtered.kind === 'masked' ? filtered.value : message };
}
