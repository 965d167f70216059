import { type DynamicModule, Module } from '@nestjs/common';
import { securityConfig } from '../../config/namespaces/index.js';
import { createCipher } from './cipher.factory.js';
import { Cipher } from './cipher.js';
import { EncryptionKeyService } from './encryption-key.service.js';
import { EncryptionStartService } from './encryption-start.service.js';
import { ReencryptionService } from './reencryption.service.js';
import { SealedRowStore } from './sealed-row.store.js';
import { SigningKeyStore } from './signing-key.store.js';
import { SealedTableRegistry } from './sealed-table.registry.js';
import type { SealedTable } from './sealed-table.types.js';

/** Encryption at rest, for every module that stores user text. */
@Module({})
export class EncryptionModule {
  /** @param tables those of all modules, so that the check at the start sees every one before any write */
  static forRoot(tables: readonly SealedTable[]): DynamicModule {
    return {
      module: EncryptionModule,
      global: true,
      providers: [
        { provide: SealedTableRegistry, useFactory: () => new SealedTableRegistry(tables) },
        SealedRowStore,
        EncryptionKeyService,
        EncryptionStartService,
        ReencryptionService,
        SigningKeyStore,
        { provide: Cipher, useFactory: createCipher, inject: [securityConfig.KEY] },
      ],
      exports: [Cipher, SealedTableRegistry, SigningKeyStore],
    };
  }
}
