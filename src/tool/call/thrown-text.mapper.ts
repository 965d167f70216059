import { HttpException } from '@nestjs/common';
import { isNativeError, isPromise } from 'node:util/types';
import { AppError } from '../../errors/index.js';
import { maskSecrets } from '../../kernel/text/index.js';

const MAX_DEPTH = 3;
const MAX_ERRORS = 10;
/** Maximum number of characters that an error text has of a body or of JSON. */
const MAX_EXCERPT_LENGTH = 1000;
/** Maximum number of characters in which secrets are searched before the cut. */
const MAX_SEARCHED = 16 * 1024;

type Members = Readonly<Record<string, unknown>>;

/** A response with an error status. */
export class ResponseError extends AppError {
  /** The unmasked body is hidden from logs that print the members of an error. */
  readonly #body: string;

  /** @param head status and status text */
  constructor(
    private readonly head: string,
    body: string,
    isRetryable: boolean,
  ) {
    super('TOOL_FAILED', responseText(head, body), { isRetryable });
    this.#body = body.slice(0, MAX_SEARCHED);
  }

  /** @param secrets values to mask in addition to secret-shaped texts */
  text(secrets: readonly string[]): string {
    return responseText(this.head, this.#body, secrets);
  }
}

function responseText(head: string, body: string, secrets?: readonly string[]): string {
  return body.trim() === '' ? head : `${head}: ${excerpt(body, secrets).trimEnd()}`;
}

/** The start of a text. Secrets are masked before the cut, since half a secret is not recognised. */
function excerpt(text: string, secrets: readonly string[] = []): string {
  const masked = maskSecrets(text.slice(0, MAX_SEARCHED), secrets);
  return masked.length > MAX_EXCERPT_LENGTH ? `${masked.slice(0, MAX_EXCERPT_LENGTH)}…` : masked;
}

/**
 * The readable text of any thrown value: its message, and the messages of its causes. Never throws. The caller masks
 * secrets in it.
 * @param secrets values that are masked before a text is cut
 */
export function thrownText(thrown: unknown, secrets: readonly string[] = []): string {
  try {
    return textOf(thrown, 0, secrets);
  } catch {
    return 'The thrown value cannot be read.';
  }
}

/** The stack of a thrown error and of its causes; the text of any other value. Never throws. */
export function thrownStack(thrown: unknown): string {
  try {
    const stacks = chainOf(thrown).map(({ stack }) => (typeof stack === 'string' ? stack : ''));
    const known = stacks.filter((stack) => stack !== '');
    return known.length > 0 ? known.join('\nCaused by: ') : thrownText(thrown);
  } catch {
    return thrownText(thrown);
  }
}

function textOf(thrown: unknown, depth: number, secrets: readonly string[]): string {
  if (thrown instanceof ResponseError) return thrown.text(secrets);
  if (isErrorLike(thrown)) return errorText(thrown as Members, depth, secrets);
  if (typeof thrown === 'string') return thrown.trim() === '' ? 'An empty text was thrown.' : thrown;
  if (typeof thrown === 'object' && thrown !== null) return objectText(thrown as Members, depth, secrets);
  return typeof thrown === 'function' ? `The function ${thrown.name} was thrown.` : `${String(thrown)} was thrown.`;
}

/** Nest's `ValidationPipe` reports a list of messages. The cause of an error of ours is for the log only. */
function errorText(error: Members, depth: number, secrets: readonly string[]): string {
  if (error instanceof HttpException && !(error instanceof AppError)) return httpText(error);
  const own = wordsOf(error);
  if (error instanceof AppError || depth === MAX_DEPTH) return own;
  const { cause, errors } = error;
  const inner = [...(Array.isArray(errors) ? (errors as unknown[]).slice(0, MAX_ERRORS) : []), cause];
  const causes = inner.filter((one) => one !== undefined && one !== null).map((one) => textOf(one, depth + 1, secrets));
  return [own, [...new Set(causes)].filter((text) => !own.includes(text)).join('; ')].filter(Boolean).join(': ');
}

function httpText(error: HttpException): string {
  const response = error.getResponse();
  const { message } = typeof response === 'object' ? (response as { message?: unknown }) : {};
  return Array.isArray(message) ? message.join('; ') : error.message;
}

/** The message; without one, the class, and the code if the class does not say it. */
function wordsOf(error: Members): string {
  const { message, name, code } = error;
  if (typeof message === 'string' && message.trim() !== '') return message;
  const kind = typeof name === 'string' && name !== '' ? name : 'Error';
  return withCode(kind, code);
}

/** An object that is no error: its message and code, else its JSON. */
function objectText(thrown: Members, depth: number, secrets: readonly string[]): string {
  if (isPromise(thrown)) return 'A promise was thrown: await it.';
  const { message, error, code, status, statusText } = thrown;
  const words = [message, error].find((text) => typeof text === 'string' && text.trim() !== '');
  if (words !== undefined) return withCode(words as string, code);
  if (typeof status === 'number' && typeof statusText === 'string') return `HTTP ${status} ${statusText}`.trim();
  if (typeof error === 'object' && error !== null && depth < MAX_DEPTH) return textOf(error, depth + 1, secrets);
  return jsonText(thrown, secrets);
}

function withCode(text: string, code: unknown): string {
  const isIncluded = (typeof code !== 'string' && typeof code !== 'number') || text.includes(String(code));
  return isIncluded ? text : `${text} (${code})`;
}

function jsonText(thrown: object, secrets: readonly string[]): string {
  const seen = new Set<unknown>();
  const text = JSON.stringify(thrown, (_key, value: unknown) => {
    if (typeof value === 'bigint') return String(value);
    if (typeof value !== 'object' || value === null) return value;
    if (seen.has(value)) return '[circular]';
    seen.add(value);
    return value;
  });
  const isEmpty = text === undefined || text === '{}';
  if (isEmpty) return `An object of the class ${thrown.constructor?.name ?? 'Object'} was thrown.`;
  return excerpt(text, secrets);
}

/** The error and its causes. */
function chainOf(thrown: unknown): Members[] {
  const chain: Members[] = [];
  for (let one = thrown; isErrorLike(one) && chain.length <= MAX_DEPTH; one = (one as Members)['cause'])
    chain.push(one as Members);
  return chain;
}

/** Errors of another realm are no instances of our `Error`. */
export function isErrorLike(thrown: unknown): boolean {
  return thrown instanceof Error || isNativeError(thrown);
}
