import type { ConnectionOptions } from 'node:tls';
import { readText } from '../kernel/index.js';

type SslMode = 'disable' | 'allow' | 'prefer' | 'require' | 'verify-ca' | 'verify-full' | 'no-verify';

/** TLS of a connection; `false` without. */
export type PostgresSsl = ConnectionOptions | false;

/** Parameters of the URL that `sslChoicesOf` reads. */
export const SSL_PARAMS = ['sslmode', 'sslrootcert', 'sslcert', 'sslkey', 'uselibpqcompat'] as const;

/**
 * The transports that `sslmode` allows, in the order in which to try them; empty without `sslmode`.
 * The modes are those of libpq (https://www.postgresql.org/docs/current/libpq-ssl.html): `require` checks the
 * certificate only if `sslrootcert` names an authority, and only `verify-full` checks the host name.
 */
export function sslChoicesOf(params: URLSearchParams): readonly PostgresSsl[] {
  const files = {
    ...(params.has('sslrootcert') && { ca: readText(params.get('sslrootcert')!) }),
    ...(params.has('sslcert') && { cert: readText(params.get('sslcert')!) }),
    ...(params.has('sslkey') && { key: readText(params.get('sslkey')!) }),
  };
  const unverified = { ...files, rejectUnauthorized: false };
  // The name is that of the certificate: a mismatch is no error.
  const ofAuthority = { ...files, checkServerIdentity: () => undefined };
  switch (params.get('sslmode') as SslMode | null) {
    case 'disable':
      return [false];
    case 'allow':
      return [false, unverified];
    case 'prefer':
      return [unverified, false];
    case 'require':
      return [params.has('sslrootcert') ? ofAuthority : unverified];
    case 'verify-ca':
      return [ofAuthority];
    case 'verify-full':
      return [files];
    case 'no-verify':
      return [unverified];
    case null:
      return params.has('sslrootcert') || params.has('sslcert') || params.has('sslkey') ? [files] : [];
  }
}
