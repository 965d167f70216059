import { AppError, messageOf } from '../common/index.js';

/** How a server is used, for what to do about it. */
export interface ServerUse {
  /** What says where it is. */
  readonly setting: string;
  /** What its user may not do, and what to do about that. */
  readonly right: string;
}

type Fault = (use: ServerUse) => string;

const REFUSED: Fault = ({ setting }) => `nothing answers there: start it, or correct ${setting}`;
const UNKNOWN_HOST: Fault = ({ setting }) => `there is no such host: correct ${setting}`;
const SILENT: Fault = () => 'it does not answer: see whether the host is right and a firewall is between';
const WRONG_USER: Fault = ({ setting }) => `it refuses the user or the password: correct ${setting}`;
const NO_DATABASE: Fault = ({ setting }) => `it has no database of that name: create it, or correct ${setting}`;
const NO_RIGHT: Fault = ({ right }) => right;
const FULL: Fault = () => 'it takes no more connections: raise its limit, or close others';

/** What is wrong and what to do, by the code of the network, of PostgreSQL (SQLSTATE) or of MariaDB. */
const FAULTS: Readonly<Record<string, Fault>> = {
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

const OURS: ServerUse = {
  setting: 'DATABASE_URL',
  right: 'the user may not create and change tables there: grant it, or make the user the owner of the database',
};

/**
 * The error of a server that cannot be used; what is no fault of it or of the configuration stays as it is.
 * @param product its name
 * @param name `host:port/database`, without a password
 */
export function toServerFailure(product: string, name: string, cause: unknown): unknown {
  if (cause instanceof AppError) return cause;
  const fault = serverFault(cause, OURS);
  if (fault === undefined) return cause;
  return new AppError('CONFIG_INVALID', `The ${product} database ${name} cannot be opened: ${fault}.`, { cause });
}

/** What is wrong with a server that cannot be used, and what to do; `undefined` when it is no fault of it or of its settings. */
export function serverFault(cause: unknown, use: ServerUse): string | undefined {
  return unreadableFile(cause, use) ?? FAULTS[codeOf(cause)]?.(use) ?? faultOf(messageOf(cause), use);
}

/** The error of a server that answers and is not what is needed. */
export function unsuitableServer(product: string, name: string, reason: string): AppError {
  return new AppError('CONFIG_INVALID', `The ${product} database ${name} cannot be opened: ${reason}.`);
}

/** A certificate that the URL names. */
function unreadableFile(cause: unknown, { setting }: ServerUse): string | undefined {
  const { syscall, path = '' } = (cause ?? {}) as NodeJS.ErrnoException;
  return syscall === 'open' ? `the file ${path} that ${setting} names cannot be read: correct it` : undefined;
}

function faultOf(message: string, use: ServerUse): string | undefined {
  if (TIMEOUT.test(message)) return SILENT(use);
  return OF_CONNECTION.test(message) ? message : undefined;
}

function codeOf(cause: unknown): string {
  const { code } = (cause ?? {}) as { code?: unknown };
  return typeof code === 'string' ? code : '';
}
