import { AppError } from '../../common/index.js';
import { failed, notTaken, tookTooLong } from './outgoing.error.js';

/** What is said of errors of the system and of undici; their own texts hold addresses. */
const REASONS: Readonly<Record<string, string>> = {
  ENOTFOUND: 'its name is not known',
  EAI_AGAIN: 'its name could not be looked up',
  ECONNREFUSED: 'it does not accept connections',
  ECONNRESET: 'it closed the connection',
  EPIPE: 'it closed the connection',
  EHOSTUNREACH: 'there is no way to it',
  ENETUNREACH: 'there is no way to it',
  ETIMEDOUT: 'the connection took too long',
  UND_ERR_CONNECT_TIMEOUT: 'the connection took too long',
  UND_ERR_SOCKET: 'it closed the connection',
};
/** Certificates whose authority is not known. */
const OF_NOBODY = /^(DEPTH_ZERO|SELF_SIGNED|UNABLE_TO)/;
const TRUSTING = 'an operator can have Node.js trust its authority with NODE_EXTRA_CA_CERTS';
const SILENCE = new Set(['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT']);
const HEADERS_TOO_LONG = new Set(['UND_ERR_HEADERS_OVERFLOW', 'HPE_HEADER_OVERFLOW']);

/** Any failure of a call as an error that names the host and nothing else of the address. */
export function toOutgoingError(error: unknown, { host }: URL): Error {
  if (error instanceof AppError) return error;
  const code = codeOf(error);
  if (SILENCE.has(code)) return tookTooLong(`${host} was silent for longer than its connection may be.`);
  if (HEADERS_TOO_LONG.has(code)) return notTaken(`The headers of ${host}'s reply are too long.`, error);
  if (code.startsWith('HPE_')) return notTaken(`${host} does not answer in HTTP.`, error);
  if (/^(ERR_SSL|EPROTO)/.test(code)) return notTaken(`${host} does not speak TLS as it should (${code}).`, error);
  if (/^(ERR_TLS|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO)/.test(code)) {
    const what = `${host} cannot be trusted: its certificate is refused (${code})`;
    return notTaken(`${what}${OF_NOBODY.test(code) ? `; ${TRUSTING}` : ''}.`, error);
  }
  return failed(`${host} cannot be reached: ${REASONS[code] ?? 'the connection failed'}.`, error);
}

function codeOf(error: unknown): string {
  const { code, cause, errors } = error as { code?: unknown; cause?: unknown; errors?: unknown[] };
  if (typeof code === 'string' && code !== '') return code;
  const inner = cause ?? errors?.[0];
  return typeof inner === 'object' && inner !== null ? codeOf(inner) : '';
}
