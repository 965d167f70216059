import { Global, Module } from '@nestjs/common';
import { AppConfig } from '../../config/index.js';
import { createCipher } from './cipher.factory.js';
import { Cipher } from './cipher.js';
import { SealedTableRegistry } from './sealed-table.registry.js';

/** Encryption at rest, for every module that stores what users say. */
@Global()
@Module({
  providers: [SealedTableRegistry, { provide: Cipher, useFactory: createCipher, inject: [AppConfig] }],
  exports: [Cipher, SealedTableRegistry],
})
export class EncryptionModule {}
