import { parseImage } from '../../common/index.js';
import type { PublishedImage, ToolCompleted } from '../../run/index.js';
import type { ChangedState, ToolResult } from '../../tool/index.js';
import type { CalledRun, CallLoop, HandedAnswer } from '../reasoning.types.js';
import type { PlacedCall } from './waiting-request.factory.js';

type Told = Omit<ToolCompleted, 'type' | 'iteration' | 'call_id'>;

/** A result as published in events: image data is replaced by its media type and size. */
export function publishedResult(result: ToolResult): Told {
  if (!result.success) return result;
  const { images, ...told } = result;
  return { ...told, ...(images && { images: images.map(publishedImage) }) };
}

function publishedImage(url: string): PublishedImage {
  const image = parseImage(url);
  if (typeof image === 'string' || image.kind === 'url') return { url };
  return { media_type: image.mediaType, bytes: image.bytes };
}

/** Emits the result of a call, and the answer of the agent that took over. */
export function tell(
  { loop, call }: PlacedCall,
  done: ToolResult,
  { child, state }: { readonly child?: CalledRun | undefined; readonly state?: ChangedState | undefined },
): void {
  const about = { iteration: loop.iteration, call_id: call.id };
  loop.run.emit({
    type: 'tool.completed',
    ...about,
    ...publishedResult(done),
    ...(child && { child_run_id: child.run_id }),
  });
  if (child?.answer) tellAnswer(loop, child.run_id, child.answer);
  if (state) loop.run.emit({ type: 'state.changed', ...about, tool: call.name, context_id: state.context_id });
}

/** Emits the message of that agent as the next iteration of this run. */
function tellAnswer({ run, iteration }: CallLoop, run_id: string, { agent, text, finish_reason }: HandedAnswer): void {
  const answered_by = { agent, run_id };
  run.emit({ type: 'message.completed', iteration: iteration + 1, text, finish_reason, tool_calls: [], answered_by });
}
