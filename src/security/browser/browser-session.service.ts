import { Inject, Injectable } from '@nestjs/common';
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { serverConfig, type ServerConfig } from '../../config/namespaces/index.js';
import { SigningKeyStore } from '../encryption/signing-key.store.js';
import { assertOwnSite } from '../caller-origin.policy.js';
import type { CredentialRequest } from '../authorization.js';

const COOKIE = 'jackdaw_session';
/** Time after which a person enters the key again, in s. */
const MAX_AGE_SECONDS = 12 * 3600;
const ALGORITHM = 'aes-256-gcm';
const IV_BYTES = 12;
const TAG_BYTES = 16;
/** Maximum length of a credential, so that the cookie stays below the 4,096 bytes that browsers store. */
const MAX_LENGTH = 2_000;

interface Content {
  readonly credential: string;
  /** Epoch ms. */
  readonly expiresAt: number;
}

/**
 * Exchanges a credential for a cookie of a browser. The cookie is the credential, encrypted with a key of this
 * installation: every node reads it, none stores it, and a revoked credential ends it.
 */
@Injectable()
export class BrowserSessionService {
  private key: Buffer | undefined;

  constructor(
    private readonly keys: SigningKeyStore,
    @Inject(serverConfig.KEY) private readonly config: Pick<ServerConfig, 'hasConsole'>,
  ) {}

  /** @returns the value of `Set-Cookie`. @param isSecure whether the client uses HTTPS */
  async start(credential: string, isSecure: boolean): Promise<string> {
    const content: Content = { credential, expiresAt: Date.now() + MAX_AGE_SECONDS * 1000 };
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv(ALGORITHM, await this.openKey(), iv);
    const sealed = [iv, cipher.update(JSON.stringify(content), 'utf8'), cipher.final(), cipher.getAuthTag()];
    return cookie(Buffer.concat(sealed).toString('base64url'), MAX_AGE_SECONDS, isSecure);
  }

  /** @returns the value of `Set-Cookie` that removes the cookie */
  end(isSecure: boolean): string {
    return cookie('', 0, isSecure);
  }

  /**
   * A request with the credential of its cookie; the request itself without a valid cookie, with another credential, and
   * without the console.
   * @throws AppError `FORBIDDEN` for a change that a page of another site requests
   */
  async resolve(request: CredentialRequest): Promise<CredentialRequest> {
    const { headers } = request;
    if (!this.config.hasConsole) return request;
    if (headers['authorization'] !== undefined || headers['x-api-key'] !== undefined) return request;
    const content = await this.contentOf(headers['cookie']);
    if (content === undefined) return request;
    assertOwnSite(request);
    const { method, url, ip } = request;
    return { method, url, ip, headers: { ...headers, authorization: `Bearer ${content.credential}` } };
  }

  private async contentOf(header: string | string[] | undefined): Promise<Content | undefined> {
    const value = typeof header === 'string' ? new RegExp(`(?:^|; *)${COOKIE}=([\\w-]+)`).exec(header)?.[1] : undefined;
    if (value === undefined) return undefined;
    const content = open(Buffer.from(value, 'base64url'), await this.openKey());
    return content && content.expiresAt > Date.now() ? content : undefined;
  }

  private async openKey(): Promise<Buffer> {
    this.key ??= Buffer.from(hkdfSync('sha256', await this.keys.open('browser-session'), '', 'cookie', 32));
    return this.key;
  }
}

/** Whether a credential fits into a cookie and a header. */
export function isCookieCredential(credential: string): boolean {
  return credential.length <= MAX_LENGTH && /^[\x21-\x7e]+$/.test(credential);
}

/** @returns `undefined` for bytes that were not sealed with this key */
function open(bytes: Buffer, key: Buffer): Content | undefined {
  if (bytes.length <= IV_BYTES + TAG_BYTES) return undefined;
  const end = bytes.length - TAG_BYTES;
  const decipher = createDecipheriv(ALGORITHM, key, bytes.subarray(0, IV_BYTES));
  decipher.setAuthTag(bytes.subarray(end));
  try {
    const text = Buffer.concat([decipher.update(bytes.subarray(IV_BYTES, end)), decipher.final()]).toString('utf8');
    return JSON.parse(text) as Content;
  } catch {
    return undefined;
  }
}

function cookie(value: string, maxAge: number, isSecure: boolean): string {
  return `${COOKIE}=${value}; Max-Age=${maxAge}; Path=/; HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}`;
}
