import { AppError, messageOf } from '../errors/index.js';

/** A fault of the database, as opposed to an error in a statement. */
export interface StorageFault {
  /** The cause and its remedy, for the log. */
  readonly cause: string;
  /** Whether reads fail too. */
  readonly stopsReads: boolean;
  /** Whether the connection failed: of a write that was sent, the outcome is unknown. */
  readonly isOfConnection: boolean;
}

const LOST = 'the connection failed: check the server and the network';
const ENDING = 'the server is starting or stopping';
const CROWDED = 'the server accepts no more connections: raise its limit, or close others';
const FULL = 'its disk is full: make room';
const READ_ONLY = 'it is read-only: it may be a replica after a failover';
const SLOW = 'a statement took too long';

const CONNECTION: StorageFault = { cause: LOST, stopsReads: true, isOfConnection: true };
const of = (cause: string, stopsReads = false): StorageFault => ({ cause, stopsReads, isOfConnection: false });

/** By SQLite's result code without its extension: https://www.sqlite.org/rescode.html */
const SQLITE: Readonly<Record<string, StorageFault>> = {
  SQLITE_BUSY: of('another process has locked the file'),
  SQLITE_LOCKED: of('another connection has locked a table'),
  SQLITE_FULL: of(FULL),
  SQLITE_IOERR: of('its disk failed: check the disk'),
  SQLITE_READONLY: of('its file is read-only: make it writable'),
  SQLITE_CANTOPEN: of('a file of the database cannot be opened: check its folder and the limit of open files'),
};

/** By SQLSTATE of PostgreSQL: https://www.postgresql.org/docs/current/errcodes-appendix.html */
const SQL_STATES: readonly (readonly [RegExp, StorageFault])[] = [
  [/^53300/, of(CROWDED, true)],
  [/^53[12]/, of(FULL)],
  [/^53/, of('the server lacks resources', true)],
  [/^57014|^55P03/, of(SLOW)],
  [/^57/, of(ENDING, true)],
  [/^08/, CONNECTION],
  [/^25006/, of(READ_ONLY)],
];

/** By error number of MariaDB: https://mariadb.com/kb/en/mariadb-error-code-reference/ */
const MARIADB: Readonly<Record<number, StorageFault>> = {
  1021: of(FULL),
  1040: of(CROWDED, true),
  1053: of(ENDING, true),
  1114: of(FULL),
  1203: of(CROWDED, true),
  1205: of(SLOW),
  1226: of(CROWDED, true),
  1290: of(READ_ONLY),
  1792: of(READ_ONLY),
  1836: of(READ_ONLY),
  1927: CONNECTION,
  1969: of(SLOW),
};

const NETWORK = /^(?:E(?!RR_)[A-Z_]+|PROTOCOL_[A-Z_]+|ERR_SOCKET_\w+)$/;
/** Messages of drivers without a code. */
const MESSAGES =
  /Connection terminated|Query read timeout|timeout exceeded when trying to connect|Client has encountered a connection error|Can't add new command when connection is in closed state|Pool is closed/;

/** A database that does not answer within the time limit. */
export class NoAnswerError extends Error {
  constructor() {
    super('The database did not answer in time.');
  }
}

/** A failure before anything was sent, such as no free connection. */
export class NotSentError extends Error {
  constructor(override readonly cause: unknown) {
    super(messageOf(cause));
  }
}

/** The fault behind an error of a driver; `undefined` for any other error, such as one in a statement. */
export function storageFaultOf(error: unknown): StorageFault | undefined {
  if (error instanceof AppError || typeof error !== 'object' || error === null) return undefined;
  if (error instanceof NotSentError) {
    const fault = storageFaultOf(error.cause);
    return fault && { ...fault, isOfConnection: false };
  }
  if (error instanceof NoAnswerError) return { ...CONNECTION, cause: 'it does not answer: check the server' };
  const { driverError } = error as { driverError?: unknown };
  // TypeORM wraps the driver's error.
  return driverError === undefined ? ofDriver(error) : storageFaultOf(driverError);
}

function ofDriver(error: { code?: unknown; errno?: unknown; severity?: unknown }): StorageFault | undefined {
  const { code, errno, severity } = error;
  if (typeof errno === 'number' && errno > 0) return MARIADB[errno];
  if (typeof code !== 'string') return ofMessage(error);
  if (code.startsWith('SQLITE_')) return SQLITE[code.replace(/^(SQLITE_[A-Z]+)_.*$/, '$1')];
  if (severity !== undefined) return SQL_STATES.find(([states]) => states.test(code))?.[1];
  return NETWORK.test(code) ? CONNECTION : ofMessage(error);
}

function ofMessage(error: object): StorageFault | undefined {
  return MESSAGES.test((error as { message?: string }).message ?? '') ? CONNECTION : undefined;
}

const RETRY_AFTER_MS = 1_000;

/**
 * The error of a call while the database is unavailable. A client may repeat the request only if nothing can have been
 * stored: the delay until then is random, from 1 to 3 s, so that clients do not return together.
 * @param isUnknown whether the database may have applied the write
 */
export function storageUnavailable(cause: unknown, isUnknown = false): AppError {
  if (isUnknown) {
    const message = 'The database failed before it confirmed the write: read the state before you repeat the request.';
    return new AppError('STORAGE_UNAVAILABLE', message, { cause, details: { is_retryable: false } });
  }
  const retry_after_ms = Math.round(RETRY_AFTER_MS * (1 + 2 * Math.random()));
  const message = 'The database is unavailable: nothing was stored. Repeat the request later.';
  return new AppError('STORAGE_UNAVAILABLE', message, {
    cause,
    isRetryable: true,
    details: { is_retryable: true, retry_after_ms },
  });
}

/** Whether the database is unavailable at present, and the same call may succeed later. */
export function isStorageUnavailable(error: unknown): error is AppError {
  return error instanceof AppError && error.code === 'STORAGE_UNAVAILABLE';
}

/** Whether SQLite found its file damaged. */
export function isDamaged(error: unknown): boolean {
  const code = (error as { code?: unknown } | null | undefined)?.code;
  return typeof code === 'string' && /^SQLITE_(?:CORRUPT|NOTADB)/.test(code);
}

/** The error of all calls after a damage was found. */
export function damaged(cause: unknown): AppError {
  return new AppError(
    'JOURNAL_UNAVAILABLE',
    `The database is damaged (${messageOf(cause)}). This process no longer uses it: restore it from a backup, then restart.`,
    { cause },
  );
}
