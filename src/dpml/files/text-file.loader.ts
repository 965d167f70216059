import { readFileSync, statSync } from 'node:fs';
import { AppError } from '../../common/index.js';
import { MAX_XML_LENGTH } from '../xml/xml.parser.js';

/** @throws AppError when it is longer than agents are, or no UTF-8 */
export function readTextFile(path: string): string {
  const { size } = statSync(path);
  if (size > MAX_XML_LENGTH) throw invalid(`it has ${size} bytes; at most ${MAX_XML_LENGTH} are read`);
  return decodeText(readFileSync(path));
}

/** @throws AppError when it is no UTF-8 */
export function decodeText(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw invalid('it is not UTF-8');
  }
}

function invalid(message: string): AppError {
  return new AppError('AGENT_INVALID', message);
}
