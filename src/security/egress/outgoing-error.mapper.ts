import { AppError } from '../../errors/index.js';
import { failed, notTaken, tookTooLong } from './outgoing.error.js';

/** Messages for error codes of the system and of undici, whose own messages contain addresses. */
const REASONS: Readonly<Record<string, string>> = {
  ENOTFOUND: 'its name is unknown',
  EAI_AGAIN: 'its name could not be looked up',
  ECONNREFUSED: 'it does not accept connections',
  ECONNRESET: 'it closed the connection',
  EPIPE: 'it closed the connection',
  EHOSTUNREACH: 'no route to the host',
  ENETUNREACH: 'no route to the network',
  ETIMEDOUT: 'the connection took too long',
  UND_ERR_CONNECT_TIMEOUT: 'the connection took too long',
  UND_ERR_SOCKET: 'it closed the connection',
};
/** Codes of certificates with an unknown authority. */
const UNKNOWN_AUTHORITY = /^(DEPTH_ZERO|SELF_SIGNED|UNABLE_TO)/;
const TRUSTING = 'an operator can have Node.js trust its authority with NODE_EXTRA_CA_CERTS';
/** undici's message for a tunnel that a proxy does not open. */
const REFUSED_BY_PROXY = /^Proxy response \((\d{3})\)/;
const SILENCE = new Set(['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT']);
const HEADERS_TOO_LONG = new Set(['UND_ERR_HEADERS_OVERFLOW', 'HPE_HEADER_OVERFLOW']);

/** Maps any failure of a call to an error that names the host, but no other part of the URL. */
export function toOutgoingError(error: unknown, { host }: URL): Error {
  if (error instanceof AppError) return error;
  const code = codeOf(error);
  if (SILENCE.has(code)) return tookTooLong(`${host} sent nothing within the read time-out.`);
  if (HEADERS_TOO_LONG.has(code)) return notTaken(`The headers of ${host}'s reply are too long.`, error);
  if (code.startsWith('HPE_')) return notTaken(`${host} does not answer in HTTP.`, error);
  if (/^(ERR_SSL|EPROTO)/.test(code)) return notTaken(`TLS handshake with ${host} failed (${code}).`, error);
  if (/^(ERR_TLS|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO)/.test(code)) {
    const what = `${host} cannot be trusted: its certificate is refused (${code})`;
    return notTaken(`${what}${UNKNOWN_AUTHORITY.test(code) ? `; ${TRUSTING}` : ''}.`, error);
  }
  return failed(`${host} cannot be reached: ${reasonOf(error as Error, code)}.`, error);
}

function reasonOf(error: Error, code: string): string {
  const [, status] = REFUSED_BY_PROXY.exec(innermost(error)) ?? [];
  if (status !== undefined) return `the proxy of HTTP_PROXY or HTTPS_PROXY answered with ${status}`;
  return REASONS[code] ?? 'the connection failed';
}

function innermost({ message, cause }: Error): string {
  return cause instanceof Error ? innermost(cause) : message;
}

function codeOf(error: unknown): string {
  const { code, cause, errors } = error as { code?: unknown; cause?: unknown; errors?: unknown[] };
  if (typeof code === 'string' && code !== '') return code;
  const inner = cause ?? errors?.[0];
  return typeof inner === 'object' && inner !== null ? codeOf(inner) : '';
}
