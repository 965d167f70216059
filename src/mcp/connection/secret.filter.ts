import { messageOf } from '../../errors/index.js';
import { headerSecrets, maskSecrets, SECRET_HEADER } from '../../kernel/text/index.js';
import type { McpServer, McpTransport } from '../mcp-server.types.js';

/** Maximum length of an error text of a server, in UTF-16 units. */
const MAX_LENGTH = 1000;
/** Length in which texts like secrets are searched; longer than any outcome, so that one at the cut is found. */
const MAX_SEARCHED = 20_000;
/** A shorter secret can occur in any text by chance. */
const MIN_LENGTH = 6;
/** A word after the scheme without a digit or `=` is not a token, and neither is a parameter of a challenge. */
const CREDENTIAL = /(?<![\w-])(Bearer|Basic|DPoP)\s+(?!\w+=")(?=\S*[\d=])[\w.~+/=-]+/gi;

/** A flag of a secret, with or without its value. */
const SECRET_FLAG = /^--?[\w-]*(?:key|token|secret|password|auth|credential)[\w-]*(?:=(.*))?$/i;

type Secretive = Pick<McpServer, 'transport'>;

/** The text of an error without the server's credentials: some servers repeat them. */
export function withoutSecrets(thrown: unknown, server: Secretive): string {
  return hideSecrets(messageOf(thrown), server).slice(0, MAX_LENGTH);
}

/**
 * A text of a server without its credentials. Cut the outcome, never the text before: part of a secret is not found.
 * @returns at most the first 20,000 units
 */
export function hideSecrets(text: string, server: Secretive): string {
  const own = secretsOf(server).reduce((rest, secret) => rest.replaceAll(secret, '[redacted]'), text);
  return maskSecrets(own.slice(0, MAX_SEARCHED).replace(CREDENTIAL, '$1 [redacted]'));
}

/** An error for the log: the original, or a copy without secrets. */
export function safeCause(thrown: unknown, server: McpServer): unknown {
  const safeText = withoutSecrets(thrown, server);
  return safeText === messageOf(thrown) ? thrown : new Error(safeText);
}

function secretsOf({ transport }: Secretive): string[] {
  return valuesOf(transport)
    .filter((secret) => secret.length >= MIN_LENGTH)
    .toSorted((one, other) => other.length - one.length);
}

function valuesOf(transport: McpTransport): string[] {
  if (transport.kind === 'stdio') return [...variablesOf(transport.env), ...secretArguments(transport.args)];
  const { auth, headers } = transport;
  const own = auth?.type === 'bearer' ? [auth.token] : auth?.type === 'client_credentials' ? [auth.clientSecret] : [];
  return [...own, ...Object.entries(headers).flatMap(([name, value]) => headerSecrets(name, value))];
}

/** A path is no secret, and an error is of no use without it, unless the name of the variable is that of a secret. */
function variablesOf(env: Readonly<Record<string, string>>): string[] {
  return Object.entries(env).flatMap(([name, value]) =>
    SECRET_HEADER.test(name) || !value.startsWith('/') ? value : [],
  );
}

/** The values of arguments such as `--api-key k` and `--token=t`. */
function secretArguments(args: readonly string[]): string[] {
  return args.flatMap((argument, at) => {
    const [, assigned] = SECRET_FLAG.exec(argument) ?? [null];
    return assigned === null ? [] : [assigned ?? args[at + 1] ?? ''];
  });
}
