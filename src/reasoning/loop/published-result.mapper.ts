import { parseImage } from '../../kernel/index.js';
import type { PublishedImage, RunFile, ToolCompleted } from '../../run/index.js';
import type { ChangedState, ToolResult } from '../../tool/index.js';
import type { CalledRun, CallLoop, HandedAnswer } from '../reasoning.types.js';
import { fileOf } from './recorded-result.mapper.js';
import type { PlacedCall } from './waiting-request.factory.js';

type PublishedResult = Omit<ToolCompleted, 'type' | 'iteration' | 'call_id'>;

/**
 * A result as published in events: without its text for the model; image data is replaced by its media type and size.
 * @param files those that hold the images
 */
export function publishedResult(result: ToolResult, files: readonly RunFile[] = []): PublishedResult {
  if (!result.success) return result;
  const { images, audio: _audio, note: _note, text: _text, ...published } = result;
  return { ...published, ...(images && { images: images.map((url) => publishedImage(url, files)) }) };
}

function publishedImage(url: string, files: readonly RunFile[]): PublishedImage {
  const image = parseImage(url);
  if (typeof image === 'string' || image.kind === 'url') return { url };
  const file = fileOf(url, files);
  return { media_type: image.mediaType, bytes: image.bytes, ...(file && { file: file.n }) };
}

interface ResultSources {
  readonly child?: CalledRun | undefined;
  readonly state?: ChangedState | undefined;
  readonly files: readonly RunFile[];
}

/** Emits the result of a call, and the answer of the agent that took over. */
export function publishResult(
  { loop, call }: PlacedCall,
  done: ToolResult,
  { child, state, files }: ResultSources,
): void {
  const about = { iteration: loop.iteration, call_id: call.id };
  loop.run.emit({
    type: 'tool.completed',
    ...about,
    ...publishedResult(done, files),
    ...(child && { child_run_id: child.run_id }),
  });
  if (child?.answer) publishAnswer(loop, child.run_id, child.answer);
  if (state) loop.run.emit({ type: 'state.changed', ...about, tool: call.name, context_id: state.context_id });
}

/** Emits the message of that agent as the next iteration of this run. */
function publishAnswer(
  { run, iteration }: CallLoop,
  run_id: string,
  { agent, text, finish_reason }: HandedAnswer,
): void {
  const answered_by = { agent, run_id };
  run.emit({ type: 'message.completed', iteration: iteration + 1, text, finish_reason, tool_calls: [], answered_by });
}
