import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hash,
  hkdfSync,
  randomFillSync,
  type KeyObject,
} from 'node:crypto';
import type { EncryptionKey } from '../../config/index.js';
import { Cipher, type HashPlace, type RowPlace } from './cipher.js';
import {
  dataTampered,
  headOf,
  keyUnknown,
  parseSealed,
  SEALED,
  SEALED_VERSION,
  type SealedText,
} from './sealed-text.parser.js';

const ALGORITHM = 'aes-256-gcm';
const IV_BYTES = 12;
const TAG = { authTagLength: 16 };

/** Pool of random IVs, each used once; one large `randomFillSync` is cheaper than many small ones. */
const ivs = Buffer.alloc(512 * IV_BYTES);
let used = ivs.length;

/**
 * AES-256-GCM with a random IV per text. Header and place are authenticated data, so that a text that was changed,
 * truncated or moved to another row does not open.
 */
export class AesGcmCipher extends Cipher {
  readonly head: string;
  override readonly keyChecks: ReadonlyMap<string, string>;
  private readonly current: KeyObject;
  private readonly keys = new Map<string, KeyObject>();
  /** Keys of the hashes, derived from the keys in their order. */
  private readonly hashKeys: readonly [KeyObject, ...KeyObject[]];

  /**
   * @param keys at least one; the first encrypts, all decrypt
   * @param isStrict whether unencrypted text is refused; otherwise it counts as written before keys were configured
   */
  constructor(
    keys: readonly EncryptionKey[],
    private readonly isStrict: boolean,
  ) {
    super();
    for (const { id, key } of keys) this.keys.set(id, createSecretKey(Buffer.from(key, 'base64')));
    const [first] = keys;
    if (!first) throw new TypeError('A cipher needs a key.');
    this.current = this.keys.get(first.id)!;
    this.head = headOf(first.id);
    this.keyChecks = new Map([...this.keys].map(([id, key]) => [id, checkOf(key)]));
    this.hashKeys = [toHashKey(this.current), ...[...this.keys.values()].slice(1).map(toHashKey)];
  }

  seal(text: string, place: RowPlace): string {
    const iv = nextIv();
    const cipher = createCipheriv(ALGORITHM, this.current, iv, TAG);
    cipher.setAAD(authenticated(this.head, place));
    const sealed = cipher.update(text, 'utf8');
    cipher.final();
    return this.head + Buffer.concat([iv, sealed, cipher.getAuthTag()]).toString('base64url');
  }

  open(stored: string, place: RowPlace): string {
    if (!stored.startsWith(SEALED)) return this.openPlain(stored, place);
    const sealed = parseSealed(stored);
    if (!sealed) throw dataTampered(place, 'its header is malformed');
    if (sealed.version !== SEALED_VERSION)
      throw dataTampered(place, `its format version "${sealed.version}" is unknown`);
    const key = this.keys.get(sealed.keyId);
    if (!key) throw keyUnknown(place, sealed.keyId);
    return decrypt(key, sealed, place);
  }

  digest(text: string, place: HashPlace): string {
    return keyedHash(this.hashKeys[0], text, place);
  }

  digests(text: string, place: HashPlace): readonly string[] {
    const keyed = this.hashKeys.map((key) => keyedHash(key, text, place));
    return this.isStrict ? keyed : [...keyed, hash('sha256', text)];
  }

  private openPlain(stored: string, place: RowPlace): string {
    if (this.isStrict) throw dataTampered(place, 'it is not encrypted, and ENCRYPTION_STRICT allows no other');
    if (!isJson(stored)) throw dataTampered(place, 'it is neither encrypted nor JSON');
    return stored;
  }
}

/** @returns a view that the next call may overwrite */
function nextIv(): Buffer {
  if (used === ivs.length) {
    randomFillSync(ivs);
    used = 0;
  }
  return ivs.subarray(used, (used += IV_BYTES));
}

function decrypt(key: KeyObject, { head, body }: SealedText, place: RowPlace): string {
  const bytes = Buffer.from(body, 'base64url');
  // `Buffer.from` is lenient: several texts decode to the same bytes. Accept the canonical one only.
  const isExact = bytes.length >= IV_BYTES + TAG.authTagLength && bytes.toString('base64url') === body;
  if (!isExact) throw dataTampered(place, 'it was changed or cut off');
  const end = bytes.length - TAG.authTagLength;
  const decipher = createDecipheriv(ALGORITHM, key, bytes.subarray(0, IV_BYTES), TAG);
  decipher.setAAD(authenticated(head, place));
  decipher.setAuthTag(bytes.subarray(end));
  const text = decipher.update(bytes.subarray(IV_BYTES, end));
  try {
    decipher.final();
  } catch {
    throw dataTampered(
      place,
      'it was changed, belongs to another row, or was encrypted with another key of the same id',
    );
  }
  return text.toString('utf8');
}

/** Additional authenticated data: a JSON array, so that different places never yield the same text. */
function authenticated(head: string, { tenant, column, owner, row, version = 0 }: RowPlace): Buffer {
  return Buffer.from(JSON.stringify([head, tenant, column, owner, String(row), version]));
}

/** The keys that encrypt serve no other algorithm. */
function toHashKey(key: KeyObject): KeyObject {
  return createSecretKey(Buffer.from(hkdfSync('sha256', key, '', 'jackdaw hash of a text', 32)));
}

function checkOf(key: KeyObject): string {
  return Buffer.from(hkdfSync('sha256', key, '', 'jackdaw check of a key', 16)).toString('hex');
}

function keyedHash(key: KeyObject, text: string, { tenant, column, owner }: HashPlace): string {
  return createHmac('sha256', key)
    .update(JSON.stringify([tenant, column, owner, text]))
    .digest('hex');
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
