import { isUtf8 } from 'node:buffer';
import { readFileSync, statSync } from 'node:fs';
import { constants, open } from 'node:fs/promises';
import { buffer as bytesOf } from 'node:stream/consumers';
import { isAbsolute, sep } from 'node:path';
import { AppError, messageOf } from '../../errors/index.js';
import { decodeText } from '../../kernel/json/index.js';
import { MAX_XML_LENGTH } from '../xml/xml.parser.js';

/** @throws AppError for a path that is not lexically inside the folder; links are not resolved */
export function assertInner(path: string): void {
  if (path === '' || isAbsolute(path) || /^[A-Za-z]:/.test(path)) throw refused('expected a path inside the folder');
  if (path.split(/[\\/]/).includes('..') || path.includes('\0')) {
    throw refused('expected a path inside the folder, without ..');
  }
}

/**
 * @param root the folder @param real the target; both with links resolved @throws AppError for a target outside of the
 * folder
 */
export function assertInside(root: string, real: string): void {
  if (!real.startsWith(root.endsWith(sep) ? root : root + sep)) throw refused('it leads out of the folder');
}

export function refused(message: string): AppError {
  return new AppError('AGENT_INVALID', message);
}

/** Maximum size of a file, in bytes. */
const MAX_BYTES = MAX_XML_LENGTH;

/** @throws AppError for a file above the maximum size or not in UTF-8 */
export function readTextFile(path: string): string {
  const { size } = statSync(path);
  if (size > MAX_BYTES) throw tooLong(size);
  return decodeDefinition(readFileSync(path));
}

/**
 * Asynchronous `readTextFile`, which never blocks: it rejects pipes and devices, and limits a growing file.
 * @param path with links resolved; a link created since is not followed
 */
export async function readTextFileSoon(path: string, maxBytes = MAX_BYTES): Promise<string> {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  const file = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  try {
    const stat = await file.stat();
    if (!stat.isFile()) throw refused('expected a file');
    if (stat.size > maxBytes) throw tooLong(stat.size, maxBytes);
    const bytes = await bytesOf(file.createReadStream({ start: 0, end: maxBytes, autoClose: false }));
    if (bytes.length > maxBytes) throw tooLong(bytes.length, maxBytes);
    return decodeDefinition(bytes);
  } finally {
    await file.close();
  }
}

/** @throws AppError for bytes that are not UTF-8 */
export function decodeDefinition(bytes: Uint8Array): string {
  let text: string;
  try {
    text = decodeText(bytes);
  } catch (error) {
    throw refused(messageOf(error));
  }
  if (!isUtf8(bytes)) throw refused('it is not UTF-8');
  return text;
}

function tooLong(size: number, maxBytes = MAX_BYTES) {
  return refused(`it has ${size} bytes; at most ${maxBytes} are read`);
}
