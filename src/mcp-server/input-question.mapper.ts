import { type JsonSchema, type JsonValue, parseExactJson } from '../kernel/json/index.js';
import type { WaitingRequest } from '../run/decision/index.js';
import { suspend, type Suspension } from '../tool/index.js';
import type { McpRequest, McpRequests } from './mcp-protocol.types.js';

/** Keyword of an answer's schema that contains the requests to the client. */
export const REQUESTS_KEYWORD = 'x-mcp-requests';

/**
 * Asks the MCP client that called the tool: return the result from the tool. The run waits, and the client answers with
 * its next request (or, before the protocol of 2026, on the open connection). The tool is then called again:
 * `answer.value` has each answer under its key, in the format of the protocol. Callers that are not MCP clients can
 * answer by `POST /api/runs/:id/input`, as for any question.
 *
 *     if (!answer) return askClient({ capital: { method: 'sampling/createMessage', params: { … } } });
 *
 * @throws AppError `TOOL_INVALID` for a schema that cannot be used
 */
export function askClient(requests: McpRequests): Suspension {
  const entries = Object.entries(requests);
  return suspend({
    question: `The MCP client is asked for ${entries.map(([key, request]) => `${key} (${descriptionOf(request)})`).join(', ')}.`,
    schema: {
      type: 'object',
      properties: Object.fromEntries(entries.map(([key, request]) => [key, answerSchema(request)])),
      required: Object.keys(requests),
      [REQUESTS_KEYWORD]: requests,
    },
  });
}

function descriptionOf(request: McpRequest): string {
  return request.method === 'elicitation/create' ? request.params.message : request.method;
}

/** Schema of the required parts of an answer. */
function answerSchema(request: McpRequest): JsonSchema {
  switch (request.method) {
    case 'elicitation/create':
      return elicitedSchema('requestedSchema' in request.params ? request.params.requestedSchema : {});
    case 'sampling/createMessage':
      return {
        type: 'object',
        properties: { role: { enum: ['user', 'assistant'] }, content: { type: ['object', 'array'] } },
        required: ['role', 'content'],
      };
    case 'roots/list':
      return { type: 'object', properties: { roots: { type: 'array' } }, required: ['roots'] };
  }
}

/** An answer that declines needs no content. */
function elicitedSchema(content: JsonSchema): JsonSchema {
  return {
    type: 'object',
    required: ['action'],
    anyOf: [
      { properties: { action: { enum: ['decline', 'cancel'] } } },
      { properties: { action: { const: 'accept' }, content } },
    ],
  };
}

type Elicitation = Extract<McpRequest, { method: 'elicitation/create' }>;
type FormSchema = Extract<Elicitation['params'], { requestedSchema: unknown }>['requestedSchema'];

/** The client's reaction: an answer value, a refusal of its user, or no usable answer yet. */
export type Answered =
  { readonly kind: 'value'; readonly value: JsonValue } | { readonly kind: 'declined' } | { readonly kind: 'open' };

/** A run's question in the form of requests to the client. */
export interface InputQuestion {
  readonly request: WaitingRequest;
  readonly requests: McpRequests;
  /** Whether the tool accepts an answer from this client only. */
  readonly isForClient: boolean;
  /** @param inputs answers of the client by the keys of `requests`; other keys are ignored */
  answer(inputs: Readonly<Record<string, unknown>>): Answered;
}

/** Field types of a form in the protocol; a nested value is requested as JSON text. */
const FORM_TYPES = new Set<unknown>(['string', 'number', 'integer', 'boolean']);

/**
 * @param isForeign whether the tool's schemas are untrusted; they then must not determine the requests to our client
 */
export function toInputQuestion(request: WaitingRequest, isForeign: boolean): InputQuestion {
  const given = request.schema?.[REQUESTS_KEYWORD] as McpRequests | undefined;
  return given && !isForeign ? asRequests(request, given) : asForm(request);
}

function asRequests(request: WaitingRequest, requests: McpRequests): InputQuestion {
  const keys = Object.keys(requests);
  return {
    request,
    requests,
    isForClient: true,
    answer(inputs) {
      if (!keys.every((key) => isObject(inputs[key]))) return { kind: 'open' };
      return { kind: 'value', value: Object.fromEntries(keys.map((key) => [key, inputs[key] as JsonValue])) };
    },
  };
}

/** A question of `suspend`, which is independent of the protocol, as a form. */
function asForm(request: WaitingRequest): InputQuestion {
  const { id, question = 'Please answer.', schema = {} } = request;
  const { form, read } = formOf(schema);
  const params = { mode: 'form' as const, message: question, requestedSchema: form };
  return {
    request,
    requests: { [id]: { method: 'elicitation/create', params } },
    isForClient: false,
    answer(inputs) {
      const input = inputs[id];
      if (!isObject(input)) return { kind: 'open' };
      if (input['action'] === 'decline' || input['action'] === 'cancel') return { kind: 'declined' };
      return input['action'] === 'accept' && isObject(input['content']) ? read(input['content']) : { kind: 'open' };
    },
  };
}

function formOf(schema: JsonSchema): { form: FormSchema; read: (content: Record<string, unknown>) => Answered } {
  if (isForm(schema)) return { form: schema as FormSchema, read: (content) => valueOf(content) };
  const single = singleField(schema);
  if (single) return { form: oneField(single), read: ({ answer }) => valueOf(answer) };
  const description = `JSON that fits this schema: ${JSON.stringify(schema)}`;
  return { form: oneField({ type: 'string', description }), read: ({ answer }) => parsed(answer) };
}

function isForm({ type, properties }: JsonSchema): boolean {
  return type === 'object' && isObject(properties) && Object.values(properties).every(isFormField);
}

function isFormField(schema: unknown): boolean {
  return isObject(schema) && (FORM_TYPES.has(schema['type']) || isMultiSelect(schema));
}

/** A choice of several texts, since 2025-11-25: the items are an `enum`, or titled by `anyOf`. */
function isMultiSelect({ type, items }: JsonSchema): boolean {
  if (type !== 'array' || !isObject(items)) return false;
  const { enum: choices, anyOf: titled } = items;
  if (Array.isArray(choices)) return choices.every((choice) => typeof choice === 'string');
  return Array.isArray(titled) && titled.every((choice) => isObject(choice) && typeof choice['const'] === 'string');
}

/** A schema that a single form field can represent; undefined for other schemas. */
function singleField(schema: JsonSchema): JsonSchema | undefined {
  if (isFormField(schema)) return schema;
  const { enum: choices } = schema;
  if (Array.isArray(choices)) {
    return choices.every((choice) => typeof choice === 'string') ? { type: 'string', ...schema } : undefined;
  }
  return Object.keys(schema).length === 0 ? { type: 'string' } : undefined;
}

function oneField(answer: JsonSchema): FormSchema {
  return { type: 'object', properties: { answer }, required: ['answer'] } as unknown as FormSchema;
}

function valueOf(value: unknown): Answered {
  return value === undefined ? { kind: 'open' } : { kind: 'value', value: value as JsonValue };
}

function parsed(text: unknown): Answered {
  try {
    return typeof text === 'string' ? valueOf(parseExactJson(text)) : { kind: 'open' };
  } catch {
    return { kind: 'open' };
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
