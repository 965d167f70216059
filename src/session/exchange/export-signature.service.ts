import { Injectable } from '@nestjs/common';
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { canonicalJson } from '../../kernel/index.js';
import { Database, type Table } from '../../persistence/index.js';
import { Cipher } from '../../security/index.js';
import { SigningKeyEntity, type SigningKey } from '../entities/signing-key.entity.js';
import { signingKeyPlace } from '../turn-place.factory.js';
import type { SessionExport } from '../session-export.schema.js';

const KEY_NAME = 'session-export';
const KEY_BYTES = 32;
/** Turns signed before yielding to the event loop. */
const TURNS_AT_ONCE = 20;

type Content = Pick<SessionExport, 'version' | 'session' | 'turns'>;

/**
 * Signs exports of sessions with HMAC-SHA256. The key is created once, in the database that all nodes share. A
 * signature is valid for one tenant, and for the content, not for its spelling as JSON.
 */
@Injectable()
export class ExportSignatureService {
  private key: Buffer | undefined;

  private readonly keys: Table<SigningKey>;

  constructor(
    database: Database,
    private readonly cipher: Cipher,
  ) {
    this.keys = database.table(SigningKeyEntity);
  }

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
    const hmac = createHmac('sha256', (this.key ??= await this.openKey()));
    // JSON has no line break outside of escapes, so that parts cannot shift.
    const add = (part: unknown) => hmac.update(`${canonicalJson(part)}\n`);
    add([KEY_NAME, tenant, version, session, turns.length]);
    for (const [at, turn] of turns.entries()) {
      add(turn);
      if (at % TURNS_AT_ONCE === TURNS_AT_ONCE - 1) await setImmediate();
    }
    return hmac.digest();
  }

  /** Of two nodes that create the key together, both read the one that was inserted first. */
  private async openKey(): Promise<Buffer> {
    const place = signingKeyPlace(KEY_NAME);
    const found = await this.stored();
    if (found !== undefined) return toKey(this.cipher.open(found, place));
    const text = JSON.stringify(randomBytes(KEY_BYTES).toString('base64url'));
    await this.keys.insertIfAbsent({ name: KEY_NAME, secret: this.cipher.seal(text, place) });
    return toKey(this.cipher.open((await this.stored())!, place));
  }

  private async stored(): Promise<string | undefined> {
    return (await this.keys.findOne({ name: KEY_NAME }))?.secret;
  }
}

function toKey(text: string): Buffer {
  return Buffer.from(JSON.parse(text) as string, 'base64url');
}
