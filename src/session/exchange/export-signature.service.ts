import { Injectable } from '@nestjs/common';
import { createHmac, timingSafeEqual } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { canonicalJson } from '../../kernel/index.js';
import { SigningKeyStore } from '../../security/index.js';
import type { SessionExport } from '../session-export.schema.js';

const KEY_NAME = 'session-export';
/** Turns signed before yielding to the event loop. */
const TURNS_AT_ONCE = 20;

type Content = Pick<SessionExport, 'version' | 'session' | 'turns'>;

/**
 * Signs exports of sessions with HMAC-SHA256. A signature is valid for one tenant, and for the content, not for its
 * spelling as JSON.
 */
@Injectable()
export class ExportSignatureService {
  constructor(private readonly keys: SigningKeyStore) {}

  /** @returns the signature in base64url. @throws AppError `ENCRYPTION_KEY_UNKNOWN`, `DATA_TAMPERED` */
  async sign(tenant: string, content: Content): Promise<string> {
    return (await this.digest(tenant, content)).toString('base64url');
  }

  /** Whether this installation signed exactly this content for the tenant. @throws AppError as `sign` */
  async isValid(tenant: string, content: Content, signature: string | undefined): Promise<boolean> {
    if (signature === undefined) return false;
    const given = Buffer.from(signature, 'base64url');
    const expected = await this.digest(tenant, content);
    return given.length === expected.length && timingSafeEqual(given, expected);
  }

  private async digest(tenant: string, { version, session, turns }: Content): Promise<Buffer> {
    const hmac = createHmac('sha256', await this.keys.open(KEY_NAME));
    // JSON has no line break outside of escapes, so that parts cannot shift.
    const add = (part: unknown) => hmac.update(`${canonicalJson(part)}\n`);
    add([KEY_NAME, tenant, version, session, turns.length]);
    for (const [at, turn] of turns.entries()) {
      add(turn);
      if (at % TURNS_AT_ONCE === TURNS_AT_ONCE - 1) await setImmediate();
    }
    return hmac.digest();
  }
}
