import { Injectable } from '@nestjs/common';
import { randomBytes } from 'node:crypto';
import { Database } from '../../persistence/index.js';
import type { Table } from '../../persistence/schema/index.js';
import { Cipher, type RowPlace } from './cipher.js';
import { type SigningKey, SigningKeyEntity } from './entities/signing-key.entity.js';
import type { SealedTable } from './sealed-table.types.js';

const KEY_BYTES = 32;

/** Random keys of this installation, by name. Each is created once, in the database that all nodes share. */
@Injectable()
export class SigningKeyStore {
  private readonly keys: Table<SigningKey>;
  private readonly opened = new Map<string, Buffer>();

  constructor(
    database: Database,
    private readonly cipher: Cipher,
  ) {
    this.keys = database.table(SigningKeyEntity);
  }

  /** @returns 32 bytes. @throws AppError `ENCRYPTION_KEY_UNKNOWN`, `DATA_TAMPERED` */
  async open(name: string): Promise<Buffer> {
    let key = this.opened.get(name);
    if (!key) this.opened.set(name, (key = await this.read(name)));
    return key;
  }

  /** Of two nodes that create the key together, both read the one that was inserted first. */
  private async read(name: string): Promise<Buffer> {
    const place = signingKeyPlace(name);
    const found = await this.stored(name);
    if (found !== undefined) return toKey(this.cipher.open(found, place));
    const text = JSON.stringify(randomBytes(KEY_BYTES).toString('base64url'));
    await this.keys.insertIfAbsent({ name, secret: this.cipher.seal(text, place) });
    return toKey(this.cipher.open((await this.stored(name))!, place));
  }

  private async stored(name: string): Promise<string | undefined> {
    return (await this.keys.findOne({ name }))?.secret;
  }
}

function toKey(text: string): Buffer {
  return Buffer.from(JSON.parse(text) as string, 'base64url');
}

function signingKeyPlace(name: string): RowPlace {
  return { tenant: '', column: 'signing_key.secret', owner: name, row: '' };
}

/** The random keys, encrypted at rest. */
export const SIGNING_SEALED_TABLES: readonly SealedTable[] = [
  {
    name: 'signing_key',
    key: ['name'],
    columns: [{ name: 'secret', place: (row) => signingKeyPlace(row['name'] as string) }],
  },
];
