/** Who asks (API keys become principals, a global guard lets no request through without one), and what only they may read. */
import { AccessLogEntryEntity } from './entities/access-log-entry.entity.js';
import { CreateAccessLog1764000000004 } from './migrations/1764000000004-create-access-log.migration.js';

export { AccessLogModule } from './access-log/access-log.module.js';
export { AccessLogService } from './access-log/access-log.service.js';
export { CurrentPrincipal } from './current-principal.decorator.js';
export { PrincipalDirectory } from './principal-directory.js';
export type { PrincipalRequest } from './principal-request.types.js';
export { Cipher } from './encryption/cipher.js';
export type { RowPlace } from './encryption/cipher.js';
export { EncryptionModule } from './encryption/encryption.module.js';
export { PLAIN_CIPHER } from './encryption/plain-cipher.js';
export { SealedTableRegistry } from './encryption/sealed-table.registry.js';
export type { SealedColumn, SealedTable, StoredRow } from './encryption/sealed-table.types.js';
export { Public } from './public.decorator.js';
export { SecurityModule } from './security.module.js';

export const SECURITY_ENTITIES = [AccessLogEntryEntity];
export const SECURITY_MIGRATIONS = [CreateAccessLog1764000000004];
