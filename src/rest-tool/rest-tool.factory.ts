import type { JsonSchema } from '../kernel/json/index.js';
import {
  type OutgoingClient,
  type OutgoingLimits,
  type OutgoingReply,
  SecretRedaction,
} from '../security/egress/index.js';
import type { ToolStateHandle } from '../tool-state/index.js';
import { attempt, createToolNow, inputOf, type ToolEffect, type ToolOrigin } from '../tool/index.js';
import { ToolRequest } from '../tool/call/index.js';
import { createBoundedInput, type InputSource } from '../tool/input/index.js';
import type { Tool, ToolContext } from '../tool/method/index.js';
import { ShownResult } from '../tool/result/index.js';
import type { Arguments } from './argument-text.mapper.js';
import { type ConnectionPlan, createConnectionPlan } from './connection/connection-plan.factory.js';
import type { ContextConnections } from './connection/context-connections.registry.js';
import { HeldCookies } from './connection/cookie-jar.factory.js';
import { HeldTokens } from './connection/held-token.factory.js';
import { parsePointer } from './json-pointer.parser.js';
import { jsonOf, readReply, type ReplyReading, shownOf } from './rest-reply.parser.js';
import { createCredentials, type Credentials } from './rest-auth.factory.js';
import { type CallRules, callWithRetries, type RetryPace } from './rest-call.executor.js';
import { type RequestBuilder, type RestRequest, RestRequestBuilder } from './rest-request.builder.js';
import type { RestToolDeclaration } from './rest-tool.types.js';

/** Minimum length of a redacted value: redacting shorter ones would damage ordinary text. */
const FEWEST_CHARACTERS = 8;

/** Cookies and tokens of a session during one call. They pass between server and state only, never to the model. */
class RestSession {
  private constructor(
    private readonly handle: ToolStateHandle,
    private readonly tokens: HeldTokens,
    private readonly cookies: HeldCookies | undefined,
  ) {}

  static async open({ hasCookies, tokens }: ConnectionPlan, handle: ToolStateHandle, url: URL): Promise<RestSession> {
    const { held } = handle;
    const cookies = hasCookies ? await HeldCookies.of(held) : undefined;
    return new RestSession(handle, new HeldTokens(tokens, held, url.origin), cookies);
  }

  /** Values to redact from results and logs, in addition to the tool's own secrets. */
  get secrets(): readonly string[] {
    const values = [...this.tokens.values, ...(this.cookies?.values ?? [])];
    return values.filter(({ length }) => length >= FEWEST_CHARACTERS);
  }

  /** Adds the session's headers, cookies and secrets to a request. */
  requestOf(request: RestRequest): RestRequest & { readonly cookies?: HeldCookies } {
    return {
      ...request,
      headers: { ...request.headers, ...this.tokens.headers() },
      secrets: [...request.secrets, ...this.secrets],
      ...(this.cookies && { cookies: this.cookies }),
    };
  }

  /** Captures the tokens of a successful reply. @throws AppError `TOOL_FAILED` for a token that cannot be stored */
  capture(reply: OutgoingReply): void {
    if (reply.status >= 200 && reply.status <= 299) this.tokens.take(jsonOf(reply));
  }

  /** Stores changed cookies and tokens, also after a failed call. */
  close(): void {
    const changes = { ...this.cookies?.changes(), ...this.tokens.changes() };
    if (Object.keys(changes).length > 0) this.handle.hold(changes);
  }
}

interface Repetition {
  readonly effect: ToolEffect;
  readonly rules: CallRules;
}

const TIMEOUT_MS = 30_000;
const RETRIES = 2;
const READING: ReadonlySet<string> = new Set(['GET', 'HEAD']);
const PACE: RetryPace = { delayMs: 200, backoff: 2, mostMs: 5000, isJittered: true };

/** Retries, time limit and backoff of a declaration's calls. Mistakes are appended to `problems`. */
function repetitionOf(declaration: RestToolDeclaration, problems: string[]): Repetition {
  const { method = 'GET', connection } = declaration;
  const { effect = READING.has(method) ? 'read' : 'once' } = declaration;
  const isOnce = effect === 'once';
  const { retries = isOnce ? 0 : RETRIES } = { retries: wantedRetries(declaration) };
  if (isOnce && retries > 0) {
    const what = connection?.retry ? 'a connection.retry' : 'retries';
    problems.push(`it has ${what}, but calls with the effect "once" are never repeated`);
  }
  return { effect, rules: { retries, timeoutMs: timeoutOf(declaration), pace: paceOf(declaration) } };
}

function timeoutOf({ timeoutMs, connection }: RestToolDeclaration): number {
  return timeoutMs ?? connection?.timeoutMs ?? TIMEOUT_MS;
}

function wantedRetries({ retries, connection: { retry } = {} }: RestToolDeclaration): number | undefined {
  return retries ?? (retry && (retry.attempts ?? RETRIES + 1) - 1);
}

function paceOf({ stateful, connection: { retry = {} } = {} }: RestToolDeclaration): RetryPace {
  if (!stateful) return PACE;
  const { delayMs = 1000, backoff = 2, jitter = true } = retry;
  return { delayMs, backoff, mostMs: Infinity, isJittered: jitter };
}

export interface RestToolWorld {
  readonly client: OutgoingClient;
  /** Connection pools of stateful tools. */
  readonly connections: ContextConnections;
  /** Secrets that declarations may use, keyed by variable name. */
  readonly secrets: Readonly<Record<string, string>>;
}

/** Creates the requests of an imported operation. */
export type BuilderOf = (credentials: Credentials) => RequestBuilder;

/** Compiled settings of a tool's calls. */
interface Endpoint extends Repetition {
  readonly builder: RequestBuilder;
  readonly reading: Omit<ReplyReading, 'host'>;
  readonly limits: OutgoingLimits;
  /** Only for a stateful tool. */
  readonly connection?: ConnectionPlan;
}

/**
 * Creates a tool from a declared endpoint.
 * @param builderOf creates the requests of an imported operation, whose schema is from a document and thus untrusted
 * @throws AppError `TOOL_INVALID` that lists all mistakes and names `source`
 */
export function createRestTool(
  declaration: RestToolDeclaration,
  source: string,
  world: RestToolWorld,
  builderOf?: BuilderOf,
): Tool {
  const { parameters } = declaration;
  const problems: string[] = [];
  const create = () =>
    builderOf ? createBoundedInput(parameters as JsonSchema, 'exact') : inputOf(parameters, 'exact');
  const input = attempt(create, problems) ?? NO_INPUT;
  const endpoint = createEndpoint(declaration, input.schema, world, problems, builderOf);
  const { effect, rules, connection } = endpoint;
  // This module retries itself, since it reads status and Retry-After of the reply.
  const { retries: _retries, ...handling } = declaration;
  const tool = createToolNow(
    {
      ...handling,
      untrusted: declaration.untrusted ?? true,
      private: declaration.private ?? hasCredentials(declaration),
      effect,
      timeoutMs: rules.timeoutMs,
      source,
      problems,
    },
    () => input,
    (args, context) => call(endpoint as Endpoint, args as Arguments, context, world),
  );
  const metadata = { ...tool.metadata, ...originOf(declaration), ...(connection && { isReturnForeign: true }) };
  return { ...tool, metadata };
}

/** Names of headers and query parameters that carry credentials. */
const CREDENTIAL = /auth|cookie|key|token|secret|session|password|signature/i;

/** Calls that share cookies and tokens are those of a login. */
function hasCredentials({ auth, headers = {}, query = {}, stateful = false, url }: RestToolDeclaration): boolean {
  if (stateful !== false || (auth !== undefined && [auth].flat().length > 0)) return true;
  const names = [...Object.keys(headers), ...Object.keys(query)];
  return names.some((name) => CREDENTIAL.test(name)) || /^[^/]*\/\/[^/]*@/.test(url);
}

function originOf({ url, method = 'GET' }: RestToolDeclaration): { readonly origin?: ToolOrigin } {
  const parsed = URL.parse(url.replaceAll(/[{}]/g, ''));
  if (!parsed) return {};
  const isReadOnly = method === 'GET' || method === 'HEAD';
  return { origin: { name: `REST API ${parsed.origin}`, hosts: [parsed.hostname], isReadOnly } };
}

/** Without a builder after a mistake, which is appended to `problems`. */
function createEndpoint(
  declaration: RestToolDeclaration,
  schema: JsonSchema,
  { secrets }: RestToolWorld,
  problems: string[],
  builderOf?: BuilderOf,
): Omit<Endpoint, 'builder'> & Partial<Endpoint> {
  const { method = 'GET', auth, result = '', firstByteTimeoutMs } = declaration;
  const credentials = createCredentials(auth, secrets, problems);
  const builder = builderOf?.(credentials) ?? RestRequestBuilder.create(declaration, schema, credentials, problems);
  const taken = takenHeaders(credentials, builder);
  const connection = createConnectionPlan(declaration, taken, problems);
  const pointer = attempt(() => parsePointer(result), problems) ?? [];
  return {
    ...(builder && { builder }),
    reading: { method, pointer, redaction: new SecretRedaction(credentials.secrets) },
    ...repetitionOf(declaration, problems),
    ...(connection && { connection }),
    limits: { ...(firstByteTimeoutMs !== undefined && { firstByteTimeoutMs }) },
  };
}

/** Headers that a connection cannot set, in lower case. */
function takenHeaders({ headers }: Credentials, builder: RequestBuilder | undefined): readonly string[] {
  return [...Object.keys(headers), ...(builder?.headerNames ?? [])].map((name) => name.toLowerCase());
}

async function call(endpoint: Endpoint, args: Arguments, context: ToolContext, world: RestToolWorld): Promise<unknown> {
  const files = context instanceof ToolRequest ? context.files : undefined;
  const request = await endpoint.builder.build(args, files);
  const { connection } = endpoint;
  if (!connection) return exchange(endpoint, request, context, world.client);
  const handle = context.state as ToolStateHandle;
  const session = await RestSession.open(connection, handle, request.url);
  try {
    return await world.connections.use(handle.contextId, connection.options, (client) =>
      exchange(endpoint, session.requestOf(request), context, client, session),
    );
  } finally {
    session.close();
  }
}

async function exchange(
  { reading, effect, rules, limits }: Endpoint,
  { headers, ...rest }: RestRequest,
  context: ToolContext,
  client: OutgoingClient,
  session?: RestSession,
): Promise<unknown> {
  const request = {
    ...rest,
    method: reading.method,
    // The key is the same in all attempts and after a crash, so that the server can ignore duplicates.
    headers: { ...headers, ...(effect === 'idempotent' && { 'idempotency-key': context.key }) },
    signal: context.signal,
    limits,
  };
  const reply = await callWithRetries(client, request, rules);
  session?.capture(reply);
  const redaction = session ? new SecretRedaction([...rest.secrets, ...session.secrets]) : reading.redaction;
  const read = { ...reading, redaction, host: rest.url.host };
  const value = readReply(reply, read);
  const shown = await shownOf(reply, value, read);
  return Object.keys(shown).length > 0 ? new ShownResult(value, shown) : value;
}

/** Placeholder for an invalid input, whose mistake is already reported. */
const NO_INPUT: InputSource = { schema: {}, validate: () => ({ valid: false, reason: 'there is no input' }) };
