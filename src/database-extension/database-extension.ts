import type { OnApplicationShutdown } from '@nestjs/common';
import type { DataSource, DataSourceOptions } from 'typeorm';
import { z } from 'zod';
import { Extension, type ExtensionHost } from '../agent/index.js';
import { AppError } from '../errors/index.js';
import type { JsonValue } from '../kernel/json/index.js';
import type { ToolContext } from '../tool/method/index.js';
import type { DatabaseExtensionOptions } from './database-extension.types.js';
import type { DatabaseReader, ReadLimits, ReadParameter, RowSet } from './database-reader.js';
import { unsuitable } from './read.error.js';
import { type SchemaResult, toSchemaResult } from './schema-result.mapper.js';

type Make = (options: DataSourceOptions) => Promise<DatabaseReader>;

const mariadb: Make = async (options) => {
  const { MariadbDatabaseReader } = await import('./mariadb-database-reader.js');
  return new MariadbDatabaseReader(options);
};

const READERS = new Map<DataSourceOptions['type'], Make>([
  ['mariadb', mariadb],
  // A MariaDB data source may have the type mysql.
  ['mysql', mariadb],
  [
    'postgres',
    async (options) => {
      const { PostgresDatabaseReader } = await import('./postgres-database-reader.js');
      return new PostgresDatabaseReader(options);
    },
  ],
  [
    'better-sqlite3',
    async (options) => {
      const { SqliteDatabaseReader } = await import('./sqlite-database-reader.js');
      return new SqliteDatabaseReader(options);
    },
  ],
]);

/**
 * Creates the reader for a kind of database, and imports its code then. @throws AppError `CONFIG_INVALID` for an
 * unsupported kind
 */
export async function createReader(source: DataSource | DataSourceOptions): Promise<DatabaseReader> {
  const options = 'createQueryRunner' in source ? source.options : source;
  const make = READERS.get(options.type);
  if (!make)
    throw unsuitable(`its type is "${options.type}", but only postgres, mariadb and better-sqlite3 are supported.`);
  return make(options);
}

/**
 * Converts a database value to JSON for a model. Integers beyond the exact range and times become text, bytes become
 * `0x…`.
 * @param maxLength characters; a longer value is cut, with a note
 */
function toCell(value: unknown, maxLength: number): JsonValue {
  if (typeof value === 'string') return cut(value, value.length, maxLength);
  if (typeof value === 'boolean') return value;
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value);
  if (typeof value === 'bigint') return isSafe(value) ? Number(value) : String(value);
  return typeof value === 'object' ? objectCell(value, maxLength) : null;
}

function isSafe(value: bigint): boolean {
  return value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER;
}

function objectCell(value: object | null, maxLength: number): JsonValue {
  if (value === null) return null;
  if (value instanceof Date) return value.toISOString();
  if (value instanceof Uint8Array) return bytesCell(value, maxLength);
  const json = JSON.stringify(value);
  return json.length <= maxLength ? (value as JsonValue) : cut(json, json.length, maxLength);
}

function bytesCell(bytes: Uint8Array, maxLength: number): string {
  const hex = Buffer.from(bytes.subarray(0, maxLength)).toString('hex');
  return cut(`0x${hex}`, bytes.length * 2 + 2, maxLength);
}

function cut(text: string, length: number, maxLength: number): string {
  if (length <= maxLength) return text;
  const last = text.charCodeAt(maxLength - 1);
  // Do not split a surrogate pair.
  const isHigh = last >= 0xd800 && last <= 0xdbff;
  const head = text.slice(0, isHigh ? maxLength - 1 : maxLength);
  return `${head}… [cut: ${head.length} of ${length} characters shown]`;
}

/** A query result for a model. */
interface QueryResult {
  readonly columns: readonly string[];
  /** Values in the order of the columns. */
  readonly rows: readonly (readonly JsonValue[])[];
  /** Present only if rows were omitted: the amount, and the remedy. */
  readonly truncated?: string;
}

/** Converts rows to JSON, up to the limits. @param limits characters of one value, bytes of the rows as JSON */
export function toQueryResult(
  { columns, rows, isCut }: RowSet,
  { maxCellLength, maxBytes }: { readonly maxCellLength: number; readonly maxBytes: number },
): QueryResult {
  const shown: JsonValue[][] = [];
  let bytes = 0;
  for (const row of rows) {
    const cells = row.map((value) => toCell(value, maxCellLength));
    bytes += Buffer.byteLength(JSON.stringify(cells)) + 1;
    if (bytes > maxBytes) break;
    shown.push(cells);
  }
  if (!isCut && shown.length === rows.length) return { columns, rows: shown };
  const truncated = `Only the first ${shown.length} rows are shown: narrow the query, or aggregate.`;
  return { columns, rows: shown, truncated };
}

/** Whether a list names a table: `orders`, `sales.orders`, or `sales.*` for a whole schema. Case-insensitive. */
function listsTable(list: readonly string[], schema: string, table: string): boolean {
  const names = [table, `${schema}.${table}`, `${schema}.*`].map((name) => name.toLowerCase());
  return list.some((name) => names.includes(name.toLowerCase()));
}

/** Maximum size of the data that the database sends for one read, in bytes, before cutting. */
const MAX_WIRE_BYTES = 16 * 1024 * 1024;
const MAX_COLUMNS = 5_000;

const optionsSchema = z.strictObject({
  dataSource: z.custom<DatabaseExtensionOptions['dataSource']>(
    (given) => typeof given === 'object' && given !== null && ('type' in given || 'options' in given),
    'must be a TypeORM DataSource, or its options',
  ),
  prefix: z
    .string()
    .regex(/^[A-Za-z][A-Za-z0-9_]{0,30}$/)
    .default('db'),
  about: z.string().max(2_000).default(''),
  tables: z.array(z.string().min(1)).optional(),
  maxRows: z.int().min(1).max(10_000).default(100),
  timeoutMs: z.int().min(10).max(300_000).default(5_000),
  maxCellLength: z.int().min(20).max(1_000_000).default(2_000),
  maxBytes: z.int().min(100).max(10_000_000).default(50_000),
});

const QUERY_INPUT = z.object({
  sql: z
    .string()
    .min(1)
    .max(100_000)
    .regex(/^[^\0]*$/, 'must not contain a NUL character')
    .describe('One read-only statement.'),
  parameters: z
    .array(z.union([z.string(), z.number(), z.boolean(), z.null()]))
    .max(1_000)
    .optional()
    .describe('Values of its placeholders, in order.'),
});

const SCHEMA_INPUT = z.object({
  tables: z.array(z.string()).max(100).optional().describe('Only these tables; if omitted, all.'),
});

/**
 * Lets agents read a database: `db_schema` describes its tables, `db_query` runs one statement that cannot change
 * anything. It needs a login of its own, with rights only to the data that agents may read: docs/extensions.md.
 */
export class DatabaseExtension extends Extension implements OnApplicationShutdown {
  readonly name: string;
  readonly version = '1.0.0';
  private readonly options: z.output<typeof optionsSchema>;
  private reader: DatabaseReader | null = null;

  /** @throws AppError `CONFIG_INVALID` naming every invalid option */
  constructor(options: DatabaseExtensionOptions) {
    super();
    const parsed = optionsSchema.safeParse(options);
    if (!parsed.success) {
      throw new AppError('CONFIG_INVALID', `DatabaseExtension: invalid options:\n${z.prettifyError(parsed.error)}`);
    }
    this.options = parsed.data;
    const { prefix } = parsed.data;
    this.name = prefix === 'db' ? 'database' : `database-${prefix}`;
  }

  override async register(agent: ExtensionHost): Promise<void> {
    const { dataSource, prefix, about, timeoutMs } = this.options;
    const reader = await createReader(dataSource);
    this.reader = reader;
    const what = about === '' ? 'the database' : `the database (${about})`;
    // The reader's own limit applies first and has a clearer error. Database content may be written by third parties.
    // Its statements only read, so their text reaches this database and nothing else.
    const common = { effect: 'read', untrusted: true, egress: false, timeoutMs: timeoutMs * 2 + 1_000 } as const;
    agent.registerTool({
      name: `${prefix}_schema`,
      description: `Lists the tables of ${what}, with their columns, types and keys. Call it before you write a query.`,
      parameters: SCHEMA_INPUT,
      handler: (input: z.output<typeof SCHEMA_INPUT>, context) => this.schema(reader, input.tables, context),
      ...common,
    });
    agent.registerTool({
      name: `${prefix}_query`,
      description:
        `Runs one read-only SQL statement on ${what}, and returns its rows. SQL dialect: ${reader.dialect}. ` +
        `Pass values as parameters, and select only the rows that you need: at most ${this.options.maxRows} rows are returned.`,
      parameters: QUERY_INPUT,
      handler: (input: z.output<typeof QUERY_INPUT>, context) => this.query(reader, input, context),
      ...common,
    });
  }

  override async boot(): Promise<void> {
    try {
      await this.reader?.open();
    } catch (error) {
      // Nest shuts down no provider that failed to start. The first error is reported.
      await this.onApplicationShutdown().catch(() => undefined);
      throw error;
    }
  }

  async onApplicationShutdown(): Promise<void> {
    await this.reader?.close();
    this.reader = null;
  }

  private async query(
    reader: DatabaseReader,
    { sql, parameters = [] }: { sql: string; parameters?: readonly ReadParameter[] | undefined },
    { signal }: ToolContext,
  ): Promise<QueryResult> {
    return toQueryResult(await reader.read(sql, parameters, this.limits(signal)), this.options);
  }

  private async schema(
    reader: DatabaseReader,
    requested: readonly string[] | undefined,
    { signal }: ToolContext,
  ): Promise<SchemaResult> {
    const lists = [this.options.tables, requested].filter((list) => list !== undefined);
    const columns = await reader.read(reader.schemaSql, [], { ...this.limits(signal), maxRows: MAX_COLUMNS });
    return toSchemaResult(columns, (schema, table) => lists.every((list) => listsTable(list, schema, table)));
  }

  private limits(signal: AbortSignal): ReadLimits {
    const { maxRows, timeoutMs } = this.options;
    return { maxRows, timeoutMs, maxBytes: MAX_WIRE_BYTES, signal };
  }
}
