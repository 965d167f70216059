import type { InputRequest, InputRequiredResult } from '@modelcontextprotocol/client';
import type { JsonSchema, JsonValue } from '../../kernel/json/index.js';
import type { SuspendOptions, SuspensionAnswer } from '../../tool/index.js';
import type { ElicitAnswer, ElicitParams } from '../connection/opened-client.factory.js';
import { McpError } from '../mcp.error.js';

/** Data that an MCP tool stores with its question: the server needs it again with the answer. */
export type McpMemo = {
  readonly requestState?: string;
  /** Id of a call that stays open until the answer arrives. */
  readonly live?: string;
  /** The server's keys of its requests; one person answers all of them at once. */
  readonly keys: readonly string[];
  /** The keys whose answer is only yes or no. */
  readonly links: readonly string[];
};

/**
 * Converts a server's request for input to a question to a person. Several requests become one question, whose answer
 * has a member for each.
 * @throws McpError `TOOL_EXECUTION_FAILED` for requests that no person can answer: a model's reply, or folders of this
 *   machine
 */
export function toQuestion(server: string, { inputRequests = {}, requestState }: InputRequiredResult): SuspendOptions {
  const entries = Object.entries<InputRequest>(inputRequests);
  const foreign = entries.find(([, { method }]) => method !== 'elicitation/create');
  if (foreign) throw notServed(server, foreign[1].method);
  const requests = entries.map(([key, { params }]) => [key, params as ElicitParams] as const);
  const memo: McpMemo = {
    keys: requests.map(([key]) => key),
    links: requests.filter(([, { mode }]) => mode === 'url').map(([key]) => key),
    ...(requestState !== undefined && { requestState }),
  };
  const question = requests.map(([, params]) => questionOf(server, params)).join('\n');
  return {
    question: question === '' ? `MCP server "${server}" asks for permission to continue.` : question,
    schema: schemaOf(requests),
    memo: memo as unknown as JsonValue,
    takesDenial: true,
  };
}

/** A person's answers by the server's keys. */
export function toInputResponses({ keys, links }: McpMemo, answer: SuspensionAnswer): Record<string, ElicitAnswer> {
  const isOne = keys.length === 1;
  return Object.fromEntries(
    keys.map((key) => {
      const value = isOne ? answer.value : (answer.value as Record<string, JsonValue> | null)?.[key];
      return [key, toElicitAnswer(value, answer.denied !== undefined, links.includes(key))];
    }),
  );
}

/** One answer in the format of the protocol. */
export function toElicitAnswer(value: JsonValue | undefined, isDenied: boolean, isLink: boolean): ElicitAnswer {
  if (isDenied || value === false) return { action: 'decline' };
  if (isLink) return { action: 'accept' };
  return { action: 'accept', content: (value ?? {}) as NonNullable<ElicitAnswer['content']> };
}

/** The question of one request. */
export function questionOf(server: string, { message, mode, url }: ElicitParams): string {
  const link = mode === 'url' && url !== undefined ? ` Open ${url} and answer true when it is done.` : '';
  return `MCP server "${server}" asks: ${message}${link}`;
}

export function answerSchemaOf({ mode, requestedSchema }: ElicitParams): JsonSchema {
  if (mode === 'url') return { type: 'boolean' };
  return (requestedSchema as JsonSchema | undefined) ?? { type: 'object' };
}

function schemaOf(requests: readonly (readonly [string, ElicitParams])[]): JsonSchema {
  const [first] = requests;
  if (!first) return {};
  if (requests.length === 1) return answerSchemaOf(first[1]);
  return {
    type: 'object',
    properties: Object.fromEntries(requests.map(([key, params]) => [key, answerSchemaOf(params)])),
    required: requests.map(([key]) => key),
  };
}

function notServed(server: string, method: string): McpError {
  const what = method === 'sampling/createMessage' ? 'a model reply' : `an answer to ${method}`;
  return new McpError(
    'TOOL_EXECUTION_FAILED',
    `MCP server "${server}" requires ${what} for this call, which Jackdaw does not provide.`,
  );
}
