import type { JsonSchema } from '../../common/index.js';
import type { OutgoingClient, OutgoingLimits } from '../../security/index.js';
import { attempt } from '../attempt.policy.js';
import { inputOf } from '../registered-tool.factory.js';
import type { InputSource } from '../input/input.types.js';
import { createToolNow } from '../tool.factory.js';
import type { ToolStateHandle } from '../state/tool-state-handle.factory.js';
import type { Tool, ToolContext } from '../tool.types.js';
import type { Arguments } from './argument-text.mapper.js';
import { parsePointer } from './json-pointer.parser.js';
import { createCredentials } from './rest-auth.factory.js';
import type { ContextConnections } from './connection/context-connections.registry.js';
import { type ConnectionPlan, createConnectionPlan } from './connection/connection-plan.factory.js';
import { RestSession } from './connection/rest-session.factory.js';
import { type Repetition, repetitionOf } from './repetition.policy.js';
import { callWithRetries } from './rest-call.executor.js';
import { type ReplyReading, readReply } from './rest-reply.parser.js';
import { type RestRequest, RestRequestBuilder } from './rest-request.builder.js';
import type { RestToolDeclaration } from './rest-tool.types.js';
import { SecretRedaction } from './secret-text.mapper.js';

export interface RestToolWorld {
  readonly client: OutgoingClient;
  /** Connection pools of stateful tools. */
  readonly connections: ContextConnections;
  /** Secrets that declarations may use, keyed by variable name. */
  readonly secrets: Readonly<Record<string, string>>;
}

/** Compiled settings of a tool's calls. */
interface Endpoint extends Repetition {
  readonly builder: RestRequestBuilder;
  readonly reading: Omit<ReplyReading, 'host'>;
  readonly limits: OutgoingLimits;
  /** Only for a stateful tool. */
  readonly connection?: ConnectionPlan;
}

/** Creates a tool from a declared endpoint. @throws AppError `TOOL_INVALID` that lists all mistakes and names `source` */
export function createRestTool(declaration: RestToolDeclaration, source: string, world: RestToolWorld): Tool {
  const problems: string[] = [];
  const input = attempt(() => inputOf(declaration.parameters, 'exact'), problems) ?? NO_INPUT;
  const endpoint = createEndpoint(declaration, input.schema, world, problems);
  const { effect, rules, connection } = endpoint;
  // This module retries itself, since it reads status and Retry-After of the reply.
  const { retries: _retries, ...handling } = declaration;
  const tool = createToolNow(
    { ...handling, untrusted: declaration.untrusted ?? true, effect, timeoutMs: rules.timeoutMs, source, problems },
    () => input,
    (args, context) => call(endpoint as Endpoint, args as Arguments, context, world),
  );
  return connection ? { ...tool, metadata: { ...tool.metadata, isReturnForeign: true } } : tool;
}

/** Without a builder after a mistake, which is appended to `problems`. */
function createEndpoint(
  declaration: RestToolDeclaration,
  schema: JsonSchema,
  { secrets }: RestToolWorld,
  problems: string[],
): Omit<Endpoint, 'builder'> & Partial<Endpoint> {
  const { method = 'GET', auth, result = '', firstByteTimeoutMs } = declaration;
  const credentials = createCredentials(auth, secrets, problems);
  const builder = RestRequestBuilder.create(declaration, schema, credentials, problems);
  const named = [...Object.keys(credentials.headers), ...Object.keys(declaration.headers ?? {})];
  const taken = named.map((name) => name.toLowerCase());
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

async function call(endpoint: Endpoint, args: Arguments, context: ToolContext, world: RestToolWorld): Promise<unknown> {
  const request = endpoint.builder.build(args);
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
  return readReply(reply, { ...reading, redaction, host: rest.url.host });
}

/** Placeholder for an invalid input, whose mistake is already reported. */
const NO_INPUT: InputSource = { schema: {}, validate: () => ({ valid: false, reason: 'there is no input' }) };
