import type { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate } from 'node:zlib';
import { AppError } from '../../errors/index.js';
import { HeapReservation } from '../../kernel/index.js';
import { notTaken } from './outgoing.error.js';

type Decoder = (bytes: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>;

const gunzipped: Decoder = promisify(gunzip);
const DECODERS: Readonly<Record<string, Decoder>> = {
  gzip: gunzipped,
  'x-gzip': gunzipped,
  deflate: promisify(inflate),
  br: promisify(brotliDecompress),
};

/** Value of `Accept-Encoding`. */
export const ACCEPTED_ENCODINGS = 'gzip, br';

/**
 * Reads and decodes a reply body. Neither the encoded nor the decoded body exceeds `maxBytes` in memory. Stopping
 * early closes the connection.
 * @param from host of the reply, for errors
 * @throws AppError `OUTGOING_FAILED` for a body that is too long, damaged or in an unsupported encoding
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
    if (!HeapReservation.grow((chunk as Buffer).length)) throw heapExhausted(from);
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
  if (!decoder) throw notTaken(`The reply of ${from} has an unsupported content encoding: use ${ACCEPTED_ENCODINGS}.`);
  return decoder;
}

function heapExhausted(from: string): Error {
  return new AppError('HEAP_EXHAUSTED', `The server has no memory for the reply of ${from}: ask for less at once.`);
}

function tooLong(from: string, maxBytes: number): Error {
  return notTaken(`The reply of ${from} is longer than the limit of ${maxBytes} bytes.`);
}
