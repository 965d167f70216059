import type { JsonValue } from '../../kernel/json/index.js';
import { parseImage } from '../../kernel/media/index.js';
import type { RunContext } from '../../run/context/index.js';
import type { RunUsage, ToolCompleted } from '../../run/event/index.js';
import type { PublishedImage, RunFile } from '../../run/files/index.js';
import type { ToolResult } from '../../tool/index.js';
import type { ChangedState } from '../../tool/stateful/index.js';
import type { CalledRun, CallLoop, HandedAnswer } from '../reasoning.types.js';
import type { PlacedCall } from './waiting-request.factory.js';

/** The recorded result; a truncated one is recorded in full too. Images and audio in files are recorded as `file:<n>`. */
export type RecordedResult = ToolResult & {
  readonly whole?: JsonValue;
  readonly child?: CalledRun;
  readonly state?: ChangedState;
  /** Usage of the models that its tool invoked. */
  readonly usage?: RunUsage;
};

const FILE = /^file:(\d+)$/;

/** Replaces images and audio by references to the files that hold them. */
export function withFileReferences<Result extends ToolResult>(result: Result, files: readonly RunFile[]): Result {
  if (!result.success || files.length === 0) return result;
  const reference = (url: string): string => {
    const file = fileOf(url, files);
    return file ? `file:${file.n}` : url;
  };
  const { images, audio } = result;
  return { ...result, ...(images && { images: images.map(reference) }), ...(audio && { audio: audio.map(reference) }) };
}

/**
 * Replaces references by the data of the files.
 * @param ledger reads the files of an earlier execution
 * @param files those of this execution
 */
export async function withFileData<Result extends ToolResult>(
  result: Result,
  ledger: RunContext['files'],
  files: readonly RunFile[] = [],
): Promise<Result> {
  if (!result.success || (!result.images && !result.audio)) return result;
  const read = async (url: string): Promise<string> => {
    const n = Number(FILE.exec(url)?.[1]);
    return Number.isNaN(n) ? url : dataUri(files.find((file) => file.n === n) ?? (await ledger.get(n)));
  };
  const images = result.images && (await Promise.all(result.images.map(read)));
  const audio = result.audio && (await Promise.all(result.audio.map(read)));
  return { ...result, ...(images && { images }), ...(audio && { audio }) };
}

/** The file that holds an image or audio. */
export function fileOf(url: string, files: readonly RunFile[]): RunFile | undefined {
  if (!url.startsWith('data:')) return undefined;
  const bytes = Buffer.from(url.slice(url.indexOf(',') + 1), 'base64');
  return files.find((file) => file.bytes.equals(bytes));
}

function dataUri({ mediaType, bytes }: RunFile): string {
  return `data:${mediaType};base64,${bytes.toString('base64')}`;
}

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
