import { AppError, messageOf } from '../errors/index.js';

/** The server-specific parts of error messages, which state a fault and its remedy. */
export interface ServerUse {
  /** The setting with the server's address. */
  readonly setting: string;
  /** The missing permission of the user, and its remedy. */
  readonly right: string;
}

type Fault = (use: ServerUse) => string;

const REFUSED: Fault = ({ setting }) => `nothing answers there: start it, or correct ${setting}`;
const UNKNOWN_HOST: Fault = ({ setting }) => `there is no such host: correct ${setting}`;
const SILENT: Fault = () => 'it does not answer: check the host and firewalls';
const WRONG_USER: Fault = ({ setting }) => `it refuses the user or the password: correct ${setting}`;
const NO_DATABASE: Fault = ({ setting }) => `it has no database of that name: create it, or correct ${setting}`;
const NO_RIGHT: Fault = ({ right }) => right;
const FULL: Fault = () => 'it accepts no more connections: raise its limit, or close others';

/** The fault and its remedy, by the code of the network, of PostgreSQL (SQLSTATE) or of MariaDB. */
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

/** Connection failures for which the drivers have no specific code. */
const TIMEOUT = /timeout/i;
const OF_CONNECTION = /terminated|SSL|certificate|ECONNRESET|password must be|authentication/i;

const OURS: ServerUse = {
  setting: 'DATABASE_URL',
  right: 'the user may not create and change tables there: grant it, or make the user the owner of the database',
};

/**
 * The error of an unusable server; an error that is not a fault of the server or the configuration is returned unchanged.
 * @param product its name
 * @param name `host:port/database`, without a password
 */
export function toServerFailure(product: string, name: string, cause: unknown): unknown {
  if (cause instanceof AppError) return cause;
  const fault = serverFault(cause, OURS);
  if (fault === undefined) return cause;
  return new AppError('CONFIG_INVALID', `The ${product} database ${name} cannot be opened: ${fault}.`, { cause });
}

/**
 * The fault of an unusable server and its remedy; `undefined` for an error that is not a fault of the server or its
 * settings.
 */
export function serverFault(cause: unknown, use: ServerUse): string | undefined {
  return unreadableFile(cause, use) ?? FAULTS[codeOf(cause)]?.(use) ?? faultOf(messageOf(cause), use);
}

/** The error of a server that answers but does not meet the requirements. */
export function unsuitableServer(product: string, name: string, reason: string): AppError {
  return new AppError('CONFIG_INVALID', `The ${product} database ${name} cannot be opened: ${reason}.`);
}

/** A certificate file of the URL. */
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
