import type { Type } from '@nestjs/common';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { isUtf8 } from 'node:buffer';
import { promisify } from 'node:util';
import { brotliDecompress, constants, gunzip, inflate, inflateRaw, zstdDecompress } from 'node:zlib';
import { agentConfig, type AgentConfig, serverConfig, type ServerConfig } from '../config/namespaces/index.js';
import { AppError, messageOf } from '../errors/index.js';
import { fieldMistake, HEAP_COST, HeapBudget, HeapReservation } from '../kernel/index.js';
import { decodeText, describeJsonFault, type JsonFault, parseExactJson, parseJson } from '../kernel/json/index.js';
import { heapExhausted, RunService } from '../run/index.js';
import { RequestAuthenticator } from '../security/index.js';
import {
  acceptsImages,
  IMAGE_ROUTES,
  imageLength,
  largeBodyScopes,
  largeLimit,
  maxValues,
  waitsForRun,
} from './body-limit.policy.js';

/** Returns a service of the application. */
export type ServiceLookup = <T>(token: Type<T> | string) => T;

const BASE64_GROWTH = 4 / 3;
/** Node ends a request this long after `REQUEST_TIMEOUT_MS`, in ms, so that the client gets our 408 first. */
const MARGIN_MS = 10_000;
/** Time without a byte of the body after which the server stops reading it, in ms. */
const MAX_STALL_MS = 15_000;

/**
 * Limits the bodies of requests by route, caller, capacity and time. A caller without a valid key cannot make the server
 * read a body: no public route has one.
 */
export function addBodyHooks(fastify: FastifyInstance, find: ServiceLookup): void {
  const authenticator = find(RequestAuthenticator);
  const runs = find(RunService);
  const heap = find(HeapBudget);
  const { requestTimeoutMs, bodyLimitBytes } = find<ServerConfig>(serverConfig.KEY);
  const { maxImageBytes } = find<AgentConfig>(agentConfig.KEY);
  // Also for a body that is not read, of a refused request. Node checks connections every 30 s.
  fastify.server.requestTimeout = requestTimeoutMs + MARGIN_MS;
  const imageLimit = bodyLimitBytes + Math.ceil(maxImageBytes * BASE64_GROWTH);
  fastify.addHook('onRoute', (route) => {
    const limit = largeLimit(route.url);
    if (limit > 0) route.bodyLimit = Math.max(bodyLimitBytes, limit);
    if (IMAGE_ROUTES.includes(route.url)) route.bodyLimit = imageLimit;
  });
  fastify.addHook('onRequest', async (request, reply) => {
    if (!hasBody(request)) return;
    try {
      await authenticator.admit(request, largeBodyScopes(request));
      // A replay needs no capacity; it is found later.
      if (waitsForRun(request) && request.headers['idempotency-key'] === undefined) runs.checkWait();
      reserveBody(heap, request, reply);
    } catch (error) {
      // Else Node would receive the rest of the body for the next request on this connection.
      if (!isSmall(request, bodyLimitBytes)) reply.header('connection', 'close');
      throw error;
    }
  });
  fastify.addHook('preParsing', (request, reply, payload, done) => {
    if (hasBody(request)) limitReading(request, reply, requestTimeoutMs);
    done(null, payload);
  });
  // Its events run in another async context than the hooks before.
  fastify.addHook('preValidation', (request, _reply, done) => withReservation(request, done));
}

function hasBody({ headers }: FastifyRequest): boolean {
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';
}

function isSmall({ headers }: FastifyRequest, limit: number): boolean {
  return headers['transfer-encoding'] === undefined && Number(headers['content-length']) <= limit;
}

/** Ends the reading of a body that is late or stalled, with status 408, or for which the heap has no space. */
function limitReading(request: FastifyRequest, reply: FastifyReply, timeoutMs: number): void {
  const { raw, headers } = request;
  const refuse = (error: unknown): void => {
    if (raw.listenerCount('error') === 0) return;
    reply.header('connection', 'close');
    raw.emit('error', error);
  };
  const fail = (message: string): void => refuse(new AppError('REQUEST_TIMEOUT', message));
  const total = setTimeout(
    () => fail(`The body did not arrive within ${timeoutMs} ms: send a smaller one, or raise REQUEST_TIMEOUT_MS.`),
    timeoutMs,
  );
  const stall = setTimeout(
    () => fail(`No byte of the body arrived within ${MAX_STALL_MS} ms: send the request again.`),
    MAX_STALL_MS,
  );
  const isDeclared = headers['content-length'] !== undefined;
  const progress = (chunk: Buffer): void => {
    stall.refresh();
    try {
      if (!isDeclared) reserveMore(request, chunk.length);
    } catch (error) {
      refuse(error);
    }
  };
  const release = (): void => {
    clearTimeout(total);
    clearTimeout(stall);
    raw.off('data', progress);
  };
  raw.on('data', progress).once('end', release).once('error', release).once('close', release);
  reply.raw.once('finish', release);
}

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
    reserveMore(request, decoded.length - body.length);
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
  if (!parsed.ok) return done(toError(parsed.fault, text));
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

function tooLarge(limit: number): AppError {
  return new AppError('PAYLOAD_TOO_LARGE', `The body without its images exceeds ${limit} bytes.`);
}

function toError(fault: JsonFault, text: string): AppError {
  switch (fault.kind) {
    case 'syntax':
      return new AppError('MALFORMED_JSON', `The body is not valid JSON: ${describeJsonFault(fault, text)}.`);
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

const RESERVATION = Symbol('RESERVATION');

interface Reserved {
  [RESERVATION]?: HeapReservation;
}

/**
 * Reserves heap for a body, by its declared length, before it is read. The run that it starts may need the reservation
 * longer than the response.
 * @throws AppError `HEAP_EXHAUSTED`
 */
function reserveBody(heap: HeapBudget, request: FastifyRequest & Reserved, { raw }: FastifyReply): void {
  const bytes = Number(request.headers['content-length'] ?? 0);
  // Fastify refuses a longer one before it reads it.
  const reservation = heap.open(bytes > request.routeOptions.bodyLimit ? 0 : bytes * HEAP_COST.request);
  if (!reservation) throw heapExhausted();
  request[RESERVATION] = reservation;
  raw.once('close', () => reservation.release());
}

/** Reserves more for a body without a declared length, or for a decompressed one. @throws AppError `HEAP_EXHAUSTED` */
function reserveMore(request: FastifyRequest & Reserved, bytes: number): void {
  if (request[RESERVATION]?.grow(bytes * HEAP_COST.request) === false) throw heapExhausted();
}

/** Continues a request within its reservation. */
function withReservation(request: FastifyRequest & Reserved, action: () => void): void {
  const reservation = request[RESERVATION];
  if (reservation) reservation.run(action);
  else action();
}
