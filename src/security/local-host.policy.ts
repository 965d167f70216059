import { AppError, type Principal } from '../common/index.js';
import { isLoopback } from '../config/index.js';
import { hostNameFrom } from './api-key.parser.js';
import type { CredentialRequest } from './principal-request.types.js';

/** The principal of every request to a server without keys, which serves its own machine only. */
export const LOCAL: Principal = Object.freeze({
  id: 'local',
  tenant: 'default',
  roles: Object.freeze(['admin', 'operator']),
});

/**
 * Rejects DNS rebinding: a third-party site can point its own name at 127.0.0.1; its requests then carry that name in `Host`.
 * @throws AppError `FORBIDDEN`
 */
export function refuseForeignHost({ headers }: Pick<CredentialRequest, 'headers'>): void {
  const host = hostNameFrom(headers);
  if (host !== undefined && isLoopback(host)) return;
  throw new AppError(
    'FORBIDDEN',
    'Without API_KEYS the server answers only requests to localhost or 127.0.0.1 (protection against DNS rebinding); the Host header of this request names another host. Set API_KEYS to serve other hosts.',
  );
}
