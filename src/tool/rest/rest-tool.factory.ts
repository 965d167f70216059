import type { JsonSchema } from '../../common/index.js';
import type { OutgoingClient, OutgoingLimits } from '../../security/index.js';
import { attempt } from '../attempt.policy.js';
import { inputOf } from '../registered-tool.factory.js';
import type { InputSource } from '../input/input.types.js';
import { createToolNow } from '../tool.factory.js';
import type { Tool, ToolContext, ToolEffect } from '../tool.types.js';
import type { Arguments } from './argument-text.mapper.js';
import { parsePointer } from './json-pointer.parser.js';
import { createCredentials } from './rest-auth.factory.js';
import { callWithRetries, type CallRules } from './rest-call.executor.js';
import { type ReplyReading, readReply } from './rest-reply.parser.js';
import { RestRequestBuilder } from './rest-request.builder.js';
import type { RestToolDeclaration } from './rest-tool.types.js';
import { SecretRedaction } from './secret-text.mapper.js';

export interface RestToolWorld {
  readonly client: OutgoingClient;
  /** What declarations may name, by the names of their variables. */
  readonly secrets: Readonly<Record<string, string>>;
}

const TIMEOUT_MS = 30_000;
const RETRIES = 2;
const READING: ReadonlySet<string> = new Set(['GET', 'HEAD']);

/** How a tool's calls are made and read. */
interface Endpoint {
  readonly builder: RestRequestBuilder;
  readonly reading: Omit<ReplyReading, 'host'>;
  readonly effect: ToolEffect;
  readonly rules: CallRules;
  readonly limits: OutgoingLimits;
}

/** A tool of a declared endpoint. @throws AppError `TOOL_INVALID` with all that is wrong, naming `source` */
export function createRestTool(declaration: RestToolDeclaration, source: string, world: RestToolWorld): Tool {
  const problems: string[] = [];
  const input = attempt(() => inputOf(declaration.parameters), problems) ?? NO_INPUT;
  const endpoint = createEndpoint(declaration, input.schema, world, problems);
  const { effect, rules } = endpoint;
  if (effect === 'once' && rules.retries > 0) {
    problems.push('it has retries, and a call with the effect "once" is never repeated');
  }
  // What is made again is this module's own business, which knows what a reply says of it.
  const { retries: _retries, ...handling } = declaration;
  return createToolNow(
    { ...handling, untrusted: declaration.untrusted ?? true, effect, timeoutMs: rules.timeoutMs, source, problems },
    () => input,
    (args, context) => call(endpoint as Endpoint, args as Arguments, context, world.client),
  );
}

/** Without a builder where something is wrong, which `problems` has. */
function createEndpoint(
  declaration: RestToolDeclaration,
  schema: JsonSchema,
  { secrets }: RestToolWorld,
  problems: string[],
): Omit<Endpoint, 'builder'> & Partial<Endpoint> {
  const { method = 'GET', auth, result = '', firstByteTimeoutMs } = declaration;
  const credentials = createCredentials(auth, secrets, problems);
  const builder = RestRequestBuilder.create(declaration, schema, credentials, problems);
  const pointer = attempt(() => parsePointer(result), problems) ?? [];
  return {
    ...(builder && { builder }),
    reading: { method, pointer, redaction: new SecretRedaction(credentials.secrets) },
    ...repetitionOf(declaration),
    limits: { ...(firstByteTimeoutMs !== undefined && { firstByteTimeoutMs }) },
  };
}

function repetitionOf(declaration: RestToolDeclaration): Pick<Endpoint, 'effect' | 'rules'> {
  const { method = 'GET', timeoutMs = TIMEOUT_MS } = declaration;
  const { effect = READING.has(method) ? 'read' : 'once' } = declaration;
  const { retries = effect === 'once' ? 0 : RETRIES } = declaration;
  return { effect, rules: { retries, timeoutMs } };
}

async function call(
  endpoint: Endpoint,
  args: Arguments,
  context: ToolContext,
  client: OutgoingClient,
): Promise<unknown> {
  const { builder, reading, effect, rules, limits } = endpoint;
  const { headers, ...rest } = builder.build(args);
  const request = {
    ...rest,
    method: reading.method,
    // The same key over attempts and crashes, so that the server does once what it is told twice.
    headers: { ...headers, ...(effect === 'idempotent' && { 'idempotency-key': context.key }) },
    signal: context.signal,
    limits,
  };
  const reply = await callWithRetries(client, request, rules);
  return readReply(reply, { ...reading, host: rest.url.host });
}

/** Stands in where the input is wrong, which is told. */
const NO_INPUT: InputSource = { schema: {}, validate: () => ({ valid: false, reason: 'there is no input' }) };
