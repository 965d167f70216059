import { messageOf } from '../../common/index.js';
import type { McpServer } from '../mcp-server.types.js';

/** Maximum length of an error text of a server, in UTF-16 units. */
const MAX_LENGTH = 1000;
/** Length in which secrets are searched; longer than `MAX_LENGTH`, so that a secret at the cut is found. */
const MAX_SEARCHED = 20_000;
/** A shorter secret can occur in any text by chance. */
const MIN_SECRET_LENGTH = 6;
/** A word after the scheme without a digit or `=` is not a token. */
const CREDENTIAL = /(?<![\w-])(Bearer|Basic|DPoP)\s+(?=\S*[\d=])[\w.~+/=-]+/gi;

/** The text of an error without the server's credentials: some servers repeat them. */
export function withoutSecrets(thrown: unknown, server: McpServer): string {
  const text = messageOf(thrown).slice(0, MAX_SEARCHED).replace(CREDENTIAL, '$1 [hidden]');
  return secretsOf(server)
    .reduce((rest, secret) => rest.replaceAll(secret, '[hidden]'), text)
    .slice(0, MAX_LENGTH);
}

/** An error for the log: the original, or a copy without secrets. */
export function safeCause(thrown: unknown, server: McpServer): unknown {
  const safeText = withoutSecrets(thrown, server);
  return safeText === messageOf(thrown) ? thrown : new Error(safeText);
}

function secretsOf({ transport }: McpServer): string[] {
  if (transport.kind === 'stdio') return [];
  const { auth, headers } = transport;
  const own = auth?.type === 'bearer' ? [auth.token] : auth?.type === 'client_credentials' ? [auth.clientSecret] : [];
  return [...own, ...Object.values(headers)].filter((secret) => secret.length >= MIN_SECRET_LENGTH);
}
