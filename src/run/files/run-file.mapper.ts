import type { RecordedStep } from '../run.types.js';
import { toJson, toSubject } from '../run-record.mapper.js';
import type { PublishedFile, RunFile } from './run-file.types.js';

/** The kind of the steps that hold files. */
export const FILE_STEP = 'file';

/** The metadata of a recorded file. */
export type FileMark = Omit<PublishedFile, 'name'>;

/** The parts of a file that may be private; encrypted with the step. */
interface FileContent {
  readonly data: string;
  readonly name?: string;
  readonly prefix?: string;
}

/**
 * The steps of the files of a call, `file:<iteration>:<call>:<k>`. Number, size and type are the subject, which stays
 * readable and is read without the content.
 * @param place the place of the call
 */
export function toFileSteps(place: string, files: readonly RunFile[]): RecordedStep[] {
  return files.map(({ n, bytes, mediaType, name, prefix }, at) => {
    const content: FileContent = { data: bytes.toString('base64'), ...(name && { name }), ...(prefix && { prefix }) };
    const subject = toSubject(`${n} ${bytes.length} ${mediaType}`);
    return { name: `${FILE_STEP}:${place}:${at + 1}`, kind: FILE_STEP, subject, result: toJson(content) };
  });
}

export function toFileMark(subject: string): FileMark {
  const [n, bytes, media_type = ''] = subject.split(' ');
  return { n: Number(n), bytes: Number(bytes), media_type };
}

/** @param result the JSON text of the step */
export function toRunFile(subject: string, result: string): RunFile {
  const { n, media_type: mediaType } = toFileMark(subject);
  const { data, ...about } = JSON.parse(result) as FileContent;
  return { n, mediaType, bytes: Buffer.from(data, 'base64'), ...about };
}

export function toPublishedFile({ n, mediaType, bytes, name }: RunFile): PublishedFile {
  return { n, media_type: mediaType, bytes: bytes.length, ...(name && { name }) };
}
