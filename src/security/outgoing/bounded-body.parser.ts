import type { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate } from 'node:zlib';
import { notTaken } from './outgoing.error.js';

type Decoder = (bytes: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>;

const gunzipped: Decoder = promisify(gunzip);
const DECODERS: Readonly<Record<string, Decoder>> = {
  gzip: gunzipped,
  'x-gzip': gunzipped,
  deflate: promisify(inflate),
  br: promisify(brotliDecompress),
};

/** What is asked for: the encodings that are understood. */
export const ACCEPTED_ENCODINGS = 'gzip, br';

/**
 * Reads a reply to its end, or to where it becomes too long, and decodes it; neither what is sent nor what comes out of
 * it is ever held beyond the limit. Leaving early closes the connection.
 * @param from whose reply it is, for errors
 * @throws AppError `OUTGOING_FAILED` for one that is too long, or is encoded in a way that is not understood
 */
export async function readBounded(
  body: Readable,
  headers: Readonly<Record<string, string>>,
  maxBytes: number,
  from: string,
): Promise<Buffer> {
  const decode = decoderOf(headers['content-encoding'], from);
  const chunks: Buffer[] = [];
  let length = Number(headers['content-length'] ?? 0) > maxBytes ? Infinity : 0;
  for await (const chunk of body) {
    length += (chunk as Buffer).length;
    if (length > maxBytes) throw tooLong(from, maxBytes);
    chunks.push(chunk as Buffer);
  }
  const sent = Buffer.concat(chunks);
  if (!decode || sent.length === 0) return sent;
  try {
    return await decode(sent, { maxOutputLength: maxBytes });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw tooLong(from, maxBytes);
    throw notTaken(`The reply of ${from} is damaged: it cannot be decompressed.`, error);
  }
}

function decoderOf(encoding: string | undefined, from: string): Decoder | undefined {
  const name = (encoding ?? 'identity').trim().toLowerCase();
  if (name === 'identity' || name === '') return undefined;
  const decoder = Object.hasOwn(DECODERS, name) ? DECODERS[name] : undefined;
  if (!decoder)
    throw notTaken(`The reply of ${from} is encoded in a way that is not understood: use ${ACCEPTED_ENCODINGS}.`);
  return decoder;
}

function tooLong(from: string, maxBytes: number): Error {
  return notTaken(`The reply of ${from} is longer than the ${maxBytes} bytes that are taken.`);
}
