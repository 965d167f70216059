/** The schema of the database: tables, columns and indexes, for entities and migrations. */
export { bigintColumn, integerColumn, stringColumn, textColumn } from './column.factory.js';
export { type Table } from './table.js';
export { SchemaBuilder } from './schema.builder.js';
export type { IndexDefinition, TableDefinition } from './schema.builder.js';
