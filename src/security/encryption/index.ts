/** Encryption at rest: ciphers, keys, and the tables with encrypted columns. */
export { Cipher } from './cipher.js';
export type { RowPlace } from './cipher.js';
export { EncryptionModule } from './encryption.module.js';
export { PLAIN_CIPHER } from './cipher.factory.js';
export { openColumn } from './sealed-row.store.js';
export { SIGNING_SEALED_TABLES, SigningKeyStore } from './signing-key.store.js';
export { SealedTableRegistry } from './sealed-table.registry.js';
export type { SealedColumn, SealedTable, StoredRow } from './sealed-table.types.js';
