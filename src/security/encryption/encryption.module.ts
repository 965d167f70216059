import { Global, Module } from '@nestjs/common';
import { securityConfig } from '../../config/index.js';
import { createCipher } from './cipher.factory.js';
import { Cipher } from './cipher.js';
import { EncryptionStartService } from './encryption-start.service.js';
import { ReencryptionService } from './reencryption.service.js';
import { SealedRowStore } from './sealed-row.store.js';
import { SealedTableRegistry } from './sealed-table.registry.js';

/** Encryption at rest, for every module that stores user text. */
@Global()
@Module({
  providers: [
    SealedTableRegistry,
    SealedRowStore,
    EncryptionStartService,
    ReencryptionService,
    { provide: Cipher, useFactory: createCipher, inject: [securityConfig.KEY] },
  ],
  exports: [Cipher, SealedTableRegistry],
})
export class EncryptionModule {}
