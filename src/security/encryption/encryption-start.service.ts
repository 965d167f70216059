import { Injectable, type OnModuleInit } from '@nestjs/common';
import { AppError, Log } from '../../errors/index.js';
import { Cipher } from './cipher.js';
import { EncryptionKeyService } from './encryption-key.service.js';
import { openColumn, SealedRowStore } from './sealed-row.store.js';
import { SealedTableRegistry } from './sealed-table.registry.js';
import type { SealedTable } from './sealed-table.types.js';

/**
 * Decrypts one row of each table before the server listens: a server with a missing key would fail every read and
 * could write plain text.
 */
@Injectable()
export class EncryptionStartService implements OnModuleInit {
  private readonly logger = new Log(EncryptionStartService.name);

  constructor(
    private readonly cipher: Cipher,
    private readonly tables: SealedTableRegistry,
    private readonly rows: SealedRowStore,
    private readonly keys: EncryptionKeyService,
  ) {}

  /** @throws AppError `CONFIG_INVALID` if a key is missing, or is another one than before */
  async onModuleInit(): Promise<void> {
    await this.rows.onceOpen(() => this.checkAll());
  }

  private async checkAll(): Promise<void> {
    const unknown = await this.keys.verify();
    await Promise.all(this.tables.list().map((table) => this.check(table)));
    await this.keys.store(unknown);
  }

  private async check(table: SealedTable): Promise<void> {
    const row = await this.rows.last(table);
    for (const column of row ? table.columns : []) {
      const stored = row![column.name];
      if (typeof stored !== 'string' || stored === '') continue;
      try {
        openColumn(this.cipher, column, row!, stored);
      } catch (error) {
        this.judge(error);
      }
    }
  }

  private judge(error: unknown): void {
    if (error instanceof AppError && error.code === 'ENCRYPTION_KEY_UNKNOWN') {
      throw new AppError('CONFIG_INVALID', `ENCRYPTION_KEYS lacks a key. ${error.message}`, { cause: error });
    }
    this.logger.error({ err: error }, 'Failed to decrypt a stored row');
  }
}
