import { AppError, type Principal } from '../common/index.js';
import { isLoopback } from '../config/index.js';
import { hostNameFrom } from './api-key.parser.js';
import type { CredentialRequest } from './principal-request.types.js';

/** Who asks on a server that needs no keys: whoever sits at its machine. */
export const LOCAL: Principal = Object.freeze({
  id: 'local',
  tenant: 'default',
  roles: Object.freeze(['admin', 'operator']),
});

/**
 * A page of a foreign site can point its own name at 127.0.0.1; its requests then bear that name as host.
 * @throws AppError `FORBIDDEN`
 */
export function refuseForeignHost({ headers }: Pick<CredentialRequest, 'headers'>): void {
  const host = hostNameFrom(headers);
  if (host !== undefined && isLoopback(host)) return;
  throw new AppError(
    'FORBIDDEN',
    'Without API_KEYS only this machine is served, as localhost or 127.0.0.1 (against DNS rebinding); the Host header of this request names another. Set API_KEYS to serve others.',
  );
}
