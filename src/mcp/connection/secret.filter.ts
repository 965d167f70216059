import { messageOf } from '../../common/index.js';
import type { McpServer } from '../mcp-server.types.js';

/** The longest text that is passed on of what a server answers with a failure, in UTF-16 units. */
const MAX_LENGTH = 1000;
/** More than that, so that no secret is cut in two and then not known. */
const MAX_SEARCHED = 20_000;
/** What is shorter may be in any text by chance. */
const MIN_SECRET_LENGTH = 6;
/** A word after the scheme is no token when it has neither digit nor sign. */
const CREDENTIAL = /(?<![\w-])(Bearer|Basic|DPoP)\s+(?=\S*[\d=])[\w.~+/=-]+/gi;

/** What is said of a failure, without what the server was given to let us in: some repeat it. */
export function withoutSecrets(thrown: unknown, server: McpServer): string {
  const text = messageOf(thrown).slice(0, MAX_SEARCHED).replace(CREDENTIAL, '$1 [hidden]');
  return secretsOf(server)
    .reduce((rest, secret) => rest.replaceAll(secret, '[hidden]'), text)
    .slice(0, MAX_LENGTH);
}

/** A failure for the log: itself, or what may be shown of it. */
export function safeCause(thrown: unknown, server: McpServer): unknown {
  const shown = withoutSecrets(thrown, server);
  return shown === messageOf(thrown) ? thrown : new Error(shown);
}

function secretsOf({ transport }: McpServer): string[] {
  if (transport.kind === 'stdio') return [];
  const { auth, headers } = transport;
  const own = auth?.type === 'bearer' ? [auth.token] : auth?.type === 'client_credentials' ? [auth.clientSecret] : [];
  return [...own, ...Object.values(headers)].filter((secret) => secret.length >= MIN_SECRET_LENGTH);
}
