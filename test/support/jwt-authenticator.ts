import { createHmac, timingSafeEqual } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { ApiKeyAuthenticator, AppError, Authenticator } from '../../src/index.js';
import type { CredentialRequest, Principal } from '../../src/index.js';

interface Claims {
  readonly sub: string;
  readonly tenant: string;
  readonly roles: readonly string[];
  /** Seconds since the epoch, as in JWT. */
  readonly exp: number;
}

/** Principals without access, although their token may still be valid; in production, your table of users. */
export const dismissed = new Set<string>();

/** Accepts JWTs signed with HS256 as `Authorization: Bearer …`, and API keys. */
@Injectable()
export class JwtAuthenticator extends Authenticator {
  constructor(private readonly keys: ApiKeyAuthenticator) {
    super();
  }

  async authenticate(request: CredentialRequest): Promise<Principal | null> {
    const token = /^Bearer ([\w-]+\.[\w-]+\.[\w-]+)$/.exec(request.headers['authorization']?.toString() ?? '')?.[1];
    if (token === undefined) return this.keys.authenticate(request);
    const { sub, tenant, roles } = verify(token, process.env['JWT_SECRET'] ?? '');
    // No key's id has a colon, so ids of the two kinds never collide.
    return this.lookUp({ id: `jwt:${sub}`, tenant, roles });
  }

  /** Also called when a run that this principal started resumes, perhaps days later. */
  async lookUp(principal: Principal): Promise<Principal | null> {
    if (!principal.id.startsWith('jwt:')) return this.keys.lookUp(principal);
    return dismissed.has(principal.id) ? null : principal;
  }
}

function verify(token: string, secret: string): Claims {
  const [head = '', body = '', signature = ''] = token.split('.');
  const expected = createHmac('sha256', secret).update(`${head}.${body}`).digest();
  const given = Buffer.from(signature, 'base64url');
  // With an empty secret any client could sign, and a token must not choose its algorithm.
  const isSigned = secret !== '' && given.length === expected.length && timingSafeEqual(given, expected);
  if (!isSigned || (decode(head) as { alg: string }).alg !== 'HS256') throw refused('is not signed by us');
  const claims = decode(body) as Claims;
  if (!(claims.exp * 1000 > Date.now())) throw refused('has expired');
  return claims;
}

function decode(part: string): unknown {
  return JSON.parse(Buffer.from(part, 'base64url').toString());
}

function refused(why: string): AppError {
  return new AppError('UNAUTHENTICATED', `This token ${why}: log in again.`);
}
