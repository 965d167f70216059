import type { JsonValue } from '../../kernel/index.js';
import type { RunContext, RunFile, RunUsage } from '../../run/index.js';
import type { ChangedState, ToolResult } from '../../tool/index.js';
import type { CalledRun } from '../reasoning.types.js';

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
