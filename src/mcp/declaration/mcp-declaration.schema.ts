import { isAbsolute } from 'node:path';
import { z } from 'zod';
import { AppError } from '../../common/index.js';
import type { McpClientConfig } from '../../config/index.js';
import type { McpServer, McpTransport } from '../mcp-server.types.js';
import type { McpOAuthProvider } from '../oauth-provider.types.js';
import type { HttpConfig } from './mcp-config.types.js';
import { refusedServerName } from '../tool/mcp-tool-name.policy.js';

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

/** Options of the tools' handling, for every transport. */
const handling = {
  timeoutMs: z.int().min(1).max(86_400_000).optional(),
  trusted: z.boolean().default(false),
  effects: z.record(z.string(), z.enum(['read', 'idempotent', 'once'])).default({}),
  tools: z.array(text).optional(),
  approval: z.enum(['always', 'never']).optional(),
  stateful: z.boolean().default(false),
  egress: z.boolean().optional(),
  untrusted: z.boolean().default(true),
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
const httpEntry = z.strictObject({ type: z.enum(['http', 'streamable-http', 'streamableHttp']).optional(), ...web });
const common = z.object({ ...handling, enabled: z.boolean().optional(), disabled: z.boolean().optional() });

const configSchema = z.strictObject({
  name: z.string(),
  enabled: z.boolean(),
  type: z.enum(['http', 'stdio']),
  http: z.strictObject({ ...web, auth: authInCode.optional() }).optional(),
  stdio: z.strictObject(program).optional(),
  ...handling,
});

const COMMON_KEYS = Object.keys(common.shape);

/** Parses a server declared in code. @throws AppError `MCP_SERVER_INVALID` with all mistakes */
export function parseMcpConfig(given: unknown, source: string, config: McpClientConfig): McpServer {
  const { name, enabled, type, http, stdio, ...rest } = checked(configSchema, given, source);
  const part = type === 'http' ? http : stdio;
  const other = type === 'http' ? stdio : http;
  if (!part || other) {
    const what = part ? `also has ${type === 'http' ? 'stdio' : 'http'}` : `has no ${type}`;
    throw invalid(`${source}: its type is ${type}, but it ${what}: give ${type} only.`, name);
  }
  return toServer({ name, isEnabled: enabled, part, ...rest }, source, config);
}

/** Parses a server of a file in the format `mcpServers`. @throws AppError `MCP_SERVER_INVALID` with all mistakes */
export function parseMcpEntry(name: string, given: unknown, source: string, config: McpClientConfig): McpServer {
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw invalid(`${source}: it must be an object.`, name);
  const entries = Object.entries(given);
  const { enabled, disabled, ...rest } = checked(common, pick(entries, true), source);
  const own = pick(entries, false);
  if (own['type'] === 'sse') {
    throw invalid(
      `${source}: the transport "sse" of 2024 is not supported: give the server's Streamable HTTP URL.`,
      name,
    );
  }
  if ('command' in own === 'url' in own) {
    throw invalid(`${source}: give either command (a program) or url (an HTTP server).`, name);
  }
  const part = 'command' in own ? checked(stdioEntry, own, source) : checked(httpEntry, own, source);
  return toServer({ name, isEnabled: enabled ?? !disabled, part, ...rest }, source, config);
}

interface Given extends z.infer<typeof handlingSchema> {
  readonly name: string;
  readonly isEnabled: boolean;
  readonly part: z.infer<typeof stdioEntry> | z.infer<typeof httpEntry> | HttpConfig;
}

function toServer({ part, ...given }: Given, source: string, config: McpClientConfig): McpServer {
  const { name, isEnabled, timeoutMs = config.timeoutMs, effects, tools, approval, egress } = given;
  const refusal = refusedServerName(name);
  if (refusal) throw invalid(`${source}: ${refusal}.`, name);
  if ('command' in part) assertAllowed(part.command, source, config);
  return {
    name,
    isEnabled,
    transport: toTransport(part),
    timeoutMs,
    isTrusted: given.trusted,
    effects,
    isStateful: given.stateful,
    isUntrusted: given.untrusted,
    source,
    origin: 'declared',
    ...(tools && { tools }),
    ...(approval && { approval }),
    ...(egress !== undefined && { egress }),
  };
}

function toTransport(part: Given['part']): McpTransport {
  if ('command' in part) {
    const { command, args = [], env = {}, cwd } = part;
    return { kind: 'stdio', command, args, env, ...(cwd !== undefined && { cwd }) };
  }
  const { auth: given, headers: sent = {} } = part;
  return { kind: 'http', url: part.url, headers: sent, ...(given && { auth: given }) };
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

function isProvider(given: unknown): boolean {
  const { tokens, clientInformation } = (given ?? {}) as Partial<McpOAuthProvider>;
  return typeof tokens === 'function' && typeof clientInformation === 'function';
}

function invalid(message: string, server: string): AppError {
  return new AppError('MCP_SERVER_INVALID', message, { details: { server } });
}
