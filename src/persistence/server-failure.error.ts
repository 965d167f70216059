import { AppError, messageOf } from '../errors/index.js';

/** The server-specific parts of error messages, which state a fault and its remedy. */
export interface ServerUse {
  /** The setting with the server's address. */
  readonly setting: string;
  /** The missing permission of the user, and its remedy. */
  readonly right: string;
}

/** @param message the message of the server */
type Fault = (use: ServerUse, message: string) => string;

const REFUSED: Fault = ({ setting }) => `nothing answers there: start it, or correct ${setting}`;
const UNKNOWN_HOST: Fault = ({ setting }) => `there is no such host: correct ${setting}`;
const SILENT: Fault = () => 'it does not answer: check the host and firewalls';
const WRONG_USER: Fault = ({ setting }) => `it refuses the user or the password: correct ${setting}`;
const NO_DATABASE: Fault = ({ setting }) => `it has no database of that name: create it, or correct ${setting}`;
const NO_RIGHT: Fault = ({ right }) => right;
const FULL: Fault = (_use, message) =>
  `it accepts no more connections, as ${limitOf(message)} is reached: raise it, or close others (docs/operations.md has the number of a process)`;

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
  // MariaDB answers for an unknown user as for one of any authentication, also one without a password.
  ER_ACCESS_DENIED_NO_PASSWORD_ERROR: WRONG_USER,
  '3D000': NO_DATABASE,
  ER_BAD_DB_ERROR: NO_DATABASE,
  '42501': NO_RIGHT,
  ER_DBACCESS_DENIED_ERROR: NO_RIGHT,
  ER_TABLEACCESS_DENIED_ERROR: NO_RIGHT,
  '53300': FULL,
  ER_CON_COUNT_ERROR: FULL,
  ER_TOO_MANY_USER_CONNECTIONS: FULL,
  ER_USER_LIMIT_REACHED: FULL,
};

/** Connection failures for which the drivers have no specific code. */
const TIMEOUT = /timeout/i;
const OF_CONNECTION =
  /terminated|SSL|certificate|ECONNRESET|password must be|authentication|no such (?:user|database)|cannot connect to server|server login/i;
/** A pooler such as pgbouncer, which accepts a list of parameters only. */
const REFUSED_PARAMETER = /unsupported startup parameter(?: in options)?: ?(.+)/;
const POOLER_FULL = /max_client_conn/;
const POOLER_BUSY = /query_wait_timeout/;

/** The setting with the limit, by the message of PostgreSQL, pgbouncer or MariaDB. */
const LIMITS: readonly (readonly [RegExp, string])[] = [
  [/for role/, 'the CONNECTION LIMIT of the role'],
  [/for database/, 'the CONNECTION LIMIT of the database'],
  [POOLER_FULL, 'max_client_conn of pgbouncer'],
  [/max_user_connections/, 'max_user_connections'],
];

function limitOf(message: string): string {
  return LIMITS.find(([text]) => text.test(message))?.[1] ?? 'max_connections';
}

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
  return unreadableFile(cause, use) ?? FAULTS[codeOf(cause)]?.(use, messageOf(cause)) ?? faultOf(messageOf(cause), use);
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
  const [, parameter] = REFUSED_PARAMETER.exec(message) ?? [];
  if (parameter !== undefined) {
    return `its pooler refuses the parameter ${parameter}: remove it from ${use.setting}, or set it for the user instead (ALTER ROLE … SET …)`;
  }
  if (POOLER_FULL.test(message)) return FULL(use, message);
  if (POOLER_BUSY.test(message)) return 'its pooler has no free connection to PostgreSQL: raise default_pool_size';
  if (TIMEOUT.test(message)) return SILENT(use, message);
  return OF_CONNECTION.test(message) ? message : undefined;
}

function codeOf(cause: unknown): string {
  const { code } = (cause ?? {}) as { code?: unknown };
  return typeof code === 'string' ? code : '';
}
