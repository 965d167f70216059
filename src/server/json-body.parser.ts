import type { FastifyRequest } from 'fastify';
import { isUtf8 } from 'node:buffer';
import { promisify } from 'node:util';
import { brotliDecompress, constants, gunzip, inflate, inflateRaw, zstdDecompress } from 'node:zlib';
import { AppError, messageOf } from '../errors/index.js';
import { acceptsImages, maxValues } from './request-body-hooks.js';
import { decodeText, fieldMistake, type JsonFault, parseExactJson, parseJson } from '../kernel/index.js';

/** Fastify parser of JSON bodies. @throws AppError `MALFORMED_JSON`, `VALIDATION_FAILED` or `PAYLOAD_TOO_LARGE` */
export function parseJsonBody(request: FastifyRequest, body: Buffer, done: Done): void {
  if (body.length === 0) return done(null, undefined);
  const encodings = encodingsOf(request);
  if (encodings.length === 0) return parseDecoded(request, body, done);
  void parseCompressed(request, { body, encodings }, done);
}

type Done = (error: Error | null, value?: unknown) => void;

async function parseCompressed(
  request: FastifyRequest,
  { body, encodings }: { readonly body: Buffer; readonly encodings: readonly string[] },
  done: Done,
): Promise<void> {
  let decoded: Buffer;
  try {
    decoded = await decompress(body, encodings, request.routeOptions.bodyLimit);
  } catch (error) {
    return done(error as Error);
  }
  parseDecoded(request, decoded, done);
}

function parseDecoded(request: FastifyRequest, body: Buffer, done: Done): void {
  let text: string;
  try {
    text = decodeText(body);
  } catch (error) {
    return done(new AppError('MALFORMED_JSON', `The body cannot be read: ${messageOf(error)}.`));
  }
  // A replacement character in the place of each invalid byte would be stored and answered.
  if (!isUtf8(body)) {
    return done(
      new AppError('MALFORMED_JSON', 'The body is not UTF-8: send it in UTF-8, also from a Windows terminal.'),
    );
  }
  const parsed = parseJson(text, parseExactJson, maxValues(request));
  if (!parsed.ok) return done(toError(parsed.fault));
  const { bodyLimit = Infinity } = request.server.initialConfig;
  if (acceptsImages(request) && body.length - imageLength(parsed.value) > bodyLimit) return done(tooLarge(bodyLimit));
  done(null, parsed.value);
}

type Decoder = (body: Buffer, maxOutputLength: number) => Promise<Buffer>;

/** The content codings of RFC 9110, and zstd with at most the window of RFC 9659 (8 MB). */
const DECODERS: ReadonlyMap<string, Decoder> = new Map<string, Decoder>([
  ['gzip', (body, maxOutputLength) => promisify(gunzip)(body, { maxOutputLength })],
  ['x-gzip', (body, maxOutputLength) => promisify(gunzip)(body, { maxOutputLength })],
  // Some clients send deflate without the zlib header that the standard requires.
  [
    'deflate',
    (body, maxOutputLength) => promisify(hasZlibHeader(body) ? inflate : inflateRaw)(body, { maxOutputLength }),
  ],
  ['br', (body, maxOutputLength) => promisify(brotliDecompress)(body, { maxOutputLength })],
  ['zstd', (body, maxOutputLength) => promisify(zstdDecompress)(body, { maxOutputLength, params: ZSTD_PARAMS })],
]);
const ZSTD_PARAMS = { [constants.ZSTD_d_windowLogMax]: 23 };

function encodingsOf({ headers }: FastifyRequest): string[] {
  const names = (headers['content-encoding'] ?? '').split(',').map((name) => name.trim().toLowerCase());
  return names.filter((name) => name !== '' && name !== 'identity');
}

/** @throws AppError `UNSUPPORTED_MEDIA_TYPE`, `PAYLOAD_TOO_LARGE` or `MALFORMED_JSON` */
async function decompress(body: Buffer, [encoding = '', ...others]: readonly string[], limit: number): Promise<Buffer> {
  const decoder = DECODERS.get(encoding);
  if (!decoder || others.length > 0) {
    const message = `Unsupported content-encoding: use one of ${[...DECODERS.keys()].join(', ')}, or send the body uncompressed.`;
    throw new AppError('UNSUPPORTED_MEDIA_TYPE', message);
  }
  try {
    return await decoder(body, limit);
  } catch (cause) {
    const isTooLarge = (cause as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE';
    if (isTooLarge) throw new AppError('PAYLOAD_TOO_LARGE', `The decompressed body exceeds ${limit} bytes.`, { cause });
    throw new AppError('MALFORMED_JSON', `The body does not match its content-encoding: it is not valid ${encoding}.`, {
      cause,
    });
  }
}

/** RFC 1950: method 8 in the low four bits, and both bytes together a multiple of 31. */
function hasZlibHeader(body: Buffer): boolean {
  return body.length > 1 && (body[0]! & 0x0f) === 8 && body.readUInt16BE(0) % 31 === 0;
}

/** Total length of a body's image data; the images are validated later. */
function imageLength(body: unknown): number {
  const images: unknown = typeof body === 'object' && body !== null && 'images' in body ? body.images : [];
  if (!Array.isArray(images)) return 0;
  return images.reduce((sum: number, image: unknown) => {
    const url = typeof image === 'object' && image !== null && 'url' in image ? image.url : '';
    return sum + (typeof url === 'string' && url.startsWith('data:') ? url.length : 0);
  }, 0);
}

function tooLarge(limit: number): AppError {
  return new AppError('PAYLOAD_TOO_LARGE', `The body without its images exceeds ${limit} bytes.`);
}

function toError(fault: JsonFault): AppError {
  switch (fault.kind) {
    case 'syntax':
      return new AppError('MALFORMED_JSON', 'The body is not valid JSON.');
    case 'depth':
      return new AppError('MALFORMED_JSON', `The body is nested deeper than ${fault.maxDepth} levels.`);
    case 'values':
      return new AppError(
        'PAYLOAD_TOO_LARGE',
        `The body contains more than ${fault.maxValues} JSON values: send a smaller one.`,
      );
    case 'forbidden_key': {
      const message = `The key "${fault.path}" is not allowed.`;
      return new AppError('VALIDATION_FAILED', message, {
        details: { errors: [fieldMistake(fault.path, message, 'isAllowedKey', fault.value)] },
      });
    }
  }
}
