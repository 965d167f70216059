/** `DatabaseExtension`: tools that read a SQLite, PostgreSQL or MariaDB database without changing it. */
export { DatabaseExtension } from './database-extension.js';
export type { DatabaseExtensionOptions } from './database-extension.types.js';
