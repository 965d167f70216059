import type { PublishedFile } from '../../run/index.js';
import type { ToolResult } from '../tool.types.js';

type Succeeded = Extract<ToolResult, { success: true }>;

/** The text that refers to a file. */
export function fileReference(file: PublishedFile): string {
  return `[file ${file.n}: ${aboutFile(file)}]`;
}

/** Type, size and name of a file, as text. */
export function aboutFile({ media_type, bytes, name }: Omit<PublishedFile, 'n'>): string {
  return [media_type, `${countOf(bytes)} bytes`, ...(name === undefined ? [] : [name])].join(', ');
}

export function countOf(count: number): string {
  return count.toLocaleString('en-US');
}

/** The files of a result, for its replacement. */
export function filesOf({ files, audio }: Succeeded): Pick<Succeeded, 'files' | 'audio'> {
  return { ...(files && { files }), ...(audio && { audio }) };
}
