import { AppError, messageOf } from '../common/index.js';

const REFUSED = 'nothing answers there: start it, or correct DATABASE_URL';
const UNKNOWN_HOST = 'there is no such host: correct DATABASE_URL';
const SILENT = 'it does not answer: see whether the host is right and a firewall is between';
const WRONG_USER = 'it refuses the user or the password: correct DATABASE_URL';
const NO_DATABASE = 'it has no database of that name: create it, or correct DATABASE_URL';
const NO_RIGHT =
  'the user may not create and change tables there: grant it, or make the user the owner of the database';
const FULL = 'it takes no more connections: raise its limit, or close others';

/** What is wrong and what to do, by the code of the network, of PostgreSQL (SQLSTATE) or of MariaDB. */
const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: REFUSED,
  ENOTFOUND: UNKNOWN_HOST,
  EAI_AGAIN: UNKNOWN_HOST,
  ENOENT: REFUSED,
  ETIMEDOUT: SILENT,
  EHOSTUNREACH: SILENT,
  ENETUNREACH: SILENT,
  '28P01': WRONG_USER,
  '28000': WRONG_USER,
  ER_ACCESS_DENIED_ERROR: WRONG_USER,
  '3D000': NO_DATABASE,
  ER_BAD_DB_ERROR: NO_DATABASE,
  '42501': NO_RIGHT,
  ER_DBACCESS_DENIED_ERROR: NO_RIGHT,
  ER_TABLEACCESS_DENIED_ERROR: NO_RIGHT,
  '53300': FULL,
  ER_CON_COUNT_ERROR: FULL,
  ER_TOO_MANY_USER_CONNECTIONS: FULL,
};

/** Failures of a connection that the drivers give no telling code for. */
const TIMEOUT = /timeout/i;
const OF_CONNECTION = /terminated|SSL|certificate|ECONNRESET|password must be|authentication/i;

/**
 * The error of a server that cannot be used; what is no fault of it or of the configuration stays as it is.
 * @param product its name
 * @param name `host:port/database`, without a password
 */
export function toServerFailure(product: string, name: string, cause: unknown): unknown {
  if (cause instanceof AppError) return cause;
  const message = messageOf(cause);
  const reason = unreadableFile(cause) ?? REASONS[codeOf(cause)] ?? reasonOf(message);
  if (reason === undefined) return cause;
  return new AppError('CONFIG_INVALID', `The ${product} database ${name} cannot be opened: ${reason}.`, { cause });
}

/** The error of a server that answers and is not what is needed. */
export function unsuitableServer(product: string, name: string, reason: string): AppError {
  return new AppError('CONFIG_INVALID', `The ${product} database ${name} cannot be opened: ${reason}.`);
}

/** A certificate that the URL names. */
function unreadableFile(cause: unknown): string | undefined {
  const { syscall, path = '' } = (cause ?? {}) as NodeJS.ErrnoException;
  return syscall === 'open' ? `the file ${path} that DATABASE_URL names cannot be read: correct it` : undefined;
}

function reasonOf(message: string): string | undefined {
  if (TIMEOUT.test(message)) return SILENT;
  return OF_CONNECTION.test(message) ? message : undefined;
}

function codeOf(cause: unknown): string {
  const { code } = (cause ?? {}) as { code?: unknown };
  return typeof code === 'string' ? code : '';
}
