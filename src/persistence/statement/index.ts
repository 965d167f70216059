/** SQL statements: their types, and factories of inserts. */
export { insert, insertAll, insertMany } from './statement.factory.js';
export type { CommitOptions, Dialect, Row, SqlValue, Statement } from './statement.types.js';
