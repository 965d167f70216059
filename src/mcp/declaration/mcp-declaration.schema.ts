import { isAbsolute } from 'node:path';
import { z } from 'zod';
import { AppError } from '../../errors/index.js';
import type { McpClientConfig } from '../../config/namespaces/index.js';
import type { McpServer, McpTransport } from '../mcp-server.types.js';
import type { McpOAuthProvider } from '../oauth-provider.types.js';
import type { HttpConfig } from './mcp-config.types.js';
import { refusedServerName } from '../tool/server-tools.registry.js';

const text = z.string().regex(/\S/, 'is empty');
/** Node rejects NUL in arguments and variables of a program. */
const argument = z.string().refine((value) => !value.includes('\0'), 'contains a NUL character');
/** Characters that HTTP allows (RFC 9110, 5.5). */
const headerValue = z.string().regex(/^[\t\x20-\x7e\x80-\xff]*$/, 'is not a valid header value');
const headers = z.record(z.string().regex(/^[!#$%&'*+.^`|~\w-]+$/, 'is not a valid header name'), headerValue);
const url = text.refine(
  (value) => /^https?:$/.test(URL.parse(value)?.protocol ?? ''),
  'is not an http:// or https:// URL',
);

const bearer = z.strictObject({ type: z.literal('bearer'), token: text });
const clientCredentials = z.strictObject({
  type: z.literal('client_credentials'),
  clientId: text,
  clientSecret: text,
  scope: text.optional(),
  issuer: url.optional(),
});
const provider = z.strictObject({
  type: z.literal('provider'),
  provider: z.custom<McpOAuthProvider>(isProvider, 'is not an OAuthClientProvider'),
});
const auth = z.discriminatedUnion('type', [bearer, clientCredentials]);
/** Only code can declare a provider. */
const authInCode = z.discriminatedUnion('type', [bearer, clientCredentials, provider]);

/** An MCP server multiplexes all calls of a session on one connection, which has no pool. */
const connection = z
  .undefined('applies to REST tools only: each session has one connection; set timeoutMs, or remove it')
  .optional();

/** Options of the tools' handling, for every transport. */
const handling = {
  timeoutMs: z.int().min(1).max(86_400_000).optional(),
  hints: z.enum(['believe', 'ignore']).optional(),
  trusted: z.boolean().optional(),
  effects: z.record(z.string(), z.enum(['read', 'idempotent', 'once'])).default({}),
  tools: z.array(text).optional(),
  approval: z.enum(['always', 'never']).optional(),
  stateful: z.boolean('must be true or false: the state of an MCP server is one connection per session').default(false),
  connection,
  required: z.boolean().default(false),
  pins: z.enum(['follow', 'hold', 'block']).optional(),
  scan: z.enum(['hide', 'warn', 'off']).default('hide'),
  egress: z.boolean().optional(),
  untrusted: z.boolean().default(true),
  private: z.boolean().optional(),
};

const handlingSchema = z.object(handling);

const program = {
  command: text.refine((value) => !value.includes('\0'), 'contains a NUL character'),
  args: z.array(argument).optional(),
  env: z.record(z.string(), argument).optional(),
  cwd: text.optional(),
};
const web = { url, headers: headers.optional(), auth: auth.optional() };

const stdioEntry = z.strictObject({ type: z.literal('stdio').optional(), ...program });
const httpEntry = z.strictObject({
  type: z.enum(['http', 'streamable-http', 'streamableHttp', 'sse']).optional(),
  ...web,
});
const common = z.object({ ...handling, enabled: z.boolean().optional(), disabled: z.boolean().optional() });

const configSchema = z.strictObject({
  name: z.string(),
  enabled: z.boolean(),
  type: z.enum(['http', 'sse', 'stdio']),
  http: z.strictObject({ ...web, auth: authInCode.optional() }).optional(),
  stdio: z.strictObject(program).optional(),
  ...handling,
});

const COMMON_KEYS = Object.keys(common.shape);

/** Parses a server declared in code. @throws AppError `MCP_SERVER_INVALID` with all mistakes */
export function parseMcpConfig(declaration: unknown, source: string, config: McpClientConfig): McpServer {
  const { name, enabled, type, http, stdio, ...rest } = checked(configSchema, declaration, source);
  const [own, foreign] = type === 'stdio' ? (['stdio', 'http'] as const) : (['http', 'stdio'] as const);
  const part = type === 'stdio' ? stdio : http && { ...http, type };
  if (!part || (type === 'stdio' ? http : stdio)) {
    const what = part ? `also has ${foreign}` : `has no ${own}`;
    throw invalid(`${source}: its type is ${type}, but it ${what}: give ${own} only.`, name);
  }
  return toServer({ name, isEnabled: enabled, part, ...rest }, source, config);
}

/** Parses a server of a file in the format `mcpServers`. @throws AppError `MCP_SERVER_INVALID` with all mistakes */
export function parseMcpEntry(name: string, declaration: unknown, source: string, config: McpClientConfig): McpServer {
  if (typeof declaration !== 'object' || declaration === null || Array.isArray(declaration))
    throw invalid(`${source}: it must be an object.`, name);
  const entries = Object.entries(declaration);
  const { enabled, disabled, ...rest } = checked(common, pick(entries, true), source);
  const own = pick(entries, false);
  if ('command' in own === 'url' in own) {
    throw invalid(`${source}: give either command (a program) or url (an HTTP server).`, name);
  }
  const part = 'command' in own ? checked(stdioEntry, own, source) : checked(httpEntry, own, source);
  return toServer({ name, isEnabled: enabled ?? !disabled, part, ...rest }, source, config);
}

interface ParsedEntry extends z.infer<typeof handlingSchema> {
  readonly name: string;
  readonly isEnabled: boolean;
  readonly part:
    z.infer<typeof stdioEntry> | z.infer<typeof httpEntry> | (HttpConfig & { readonly type: 'http' | 'sse' });
}

function toServer({ part, ...given }: ParsedEntry, source: string, config: McpClientConfig): McpServer {
  const { name, isEnabled, timeoutMs = config.timeoutMs, effects, tools, approval, egress } = given;
  const refusal = refusedServerName(name);
  if (refusal) throw invalid(`${source}: ${refusal}.`, name);
  if ('command' in part) assertAllowed(part.command, source, config);
  const transport = toTransport(part, given.private === false);
  return {
    name,
    isEnabled,
    transport,
    timeoutMs,
    pins: given.pins ?? defaultPins(transport),
    scan: given.scan,
    areHintsBelieved: areHintsBelieved(given, source),
    isPrivate: given.private ?? hasPrivateData(transport),
    effects,
    isStateful: given.stateful,
    isRequired: given.required,
    isUntrusted: given.untrusted,
    source,
    origin: 'declared',
    ...(tools && { tools }),
    ...(approval && { approval }),
    ...(egress !== undefined && { egress }),
  };
}

/** `trusted` is deprecated. @throws AppError `MCP_SERVER_INVALID` with both options */
function areHintsBelieved({ name, hints, trusted }: Omit<ParsedEntry, 'part'>, source: string): boolean {
  if (hints !== undefined && trusted !== undefined)
    throw invalid(`${source}: it has hints and trusted, which is deprecated: remove trusted.`, name);
  return hints === undefined ? trusted !== false : hints === 'believe';
}

/** A program has access to this machine. At an HTTP server, only credentials give access to private data. */
function hasPrivateData(transport: McpTransport): boolean {
  if (transport.kind === 'stdio') return true;
  const { headers: sent, auth: given } = transport;
  const { username, password, search } = new URL(transport.url);
  return given !== undefined || Object.keys(sent).length > 0 || `${username}${password}${search}` !== '';
}

function toTransport(part: ParsedEntry['part'], hasOwnHome: boolean): McpTransport {
  if ('command' in part) {
    const { command, args = [], env = {}, cwd } = part;
    return {
      kind: 'stdio',
      command,
      args,
      env,
      ...(cwd !== undefined && { cwd }),
      ...(hasOwnHome && { hasOwnHome }),
    };
  }
  const { auth: given, headers: sent = {} } = part;
  return {
    kind: 'http',
    url: part.url,
    headers: sent,
    ...(given && { auth: given }),
    ...(part.type === 'sse' && { isSse: true }),
  };
}

/** A program's definitions arrive with its code. Those of another machine, also behind a proxy program, do not. */
function defaultPins(transport: McpTransport): McpServer['pins'] {
  if (transport.kind === 'http') return 'hold';
  return transport.args.some((arg) => /(?:https?|wss?):\/\//iu.test(arg)) ? 'hold' : 'follow';
}

function assertAllowed(command: string, source: string, { allowedCommands }: McpClientConfig): void {
  if (!allowedCommands || allowedCommands.includes(command)) return;
  const hint = isAbsolute(command) ? '' : ' (by its absolute path)';
  const message = `${source}: ${JSON.stringify(command)} is not in MCP_ALLOWED_COMMANDS: add it there${hint}.`;
  throw new AppError('MCP_SERVER_INVALID', message);
}

function pick(entries: readonly (readonly [string, unknown])[], isCommon: boolean): Record<string, unknown> {
  return Object.fromEntries(entries.filter(([key]) => COMMON_KEYS.includes(key) === isCommon));
}

function checked<T>(schema: z.ZodType<T>, value: unknown, source: string): T {
  const read = schema.safeParse(value);
  if (read.success) return read.data;
  const faults = read.error.issues.map(({ path, message }) =>
    path.length > 0 ? `${path.join('.')}: ${message}` : message,
  );
  throw new AppError('MCP_SERVER_INVALID', `${source}: ${faults.join('; ')}.`);
}

function isProvider(candidate: unknown): boolean {
  const { tokens, clientInformation } = (candidate ?? {}) as Partial<McpOAuthProvider>;
  return typeof tokens === 'function' && typeof clientInformation === 'function';
}

function invalid(message: string, server: string): AppError {
  return new AppError('MCP_SERVER_INVALID', message, { details: { server } });
}
