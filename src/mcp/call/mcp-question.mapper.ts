import type { InputRequest, InputRequiredResult } from '@modelcontextprotocol/client';
import type { JsonSchema, JsonValue } from '../../common/index.js';
import type { SuspendOptions, SuspensionAnswer } from '../../tool/index.js';
import type { ElicitAnswer, ElicitParams } from '../connection/opened-client.factory.js';
import { McpError } from '../mcp.error.js';

/** What an MCP tool keeps with its question: all that the server needs again with the answer. */
export type McpMemo = {
  readonly requestState?: string;
  /** The id of a call that is held open until the answer comes. */
  readonly live?: string;
  /** The server's names of what it asks; a question of several is answered by one person at once. */
  readonly keys: readonly string[];
  /** Of those, such as only want a yes or no. */
  readonly links: readonly string[];
};

/**
 * What a person is asked when a server needs input for a call; several requests become one question, whose answer has a
 * member for each.
 * @throws McpError `TOOL_EXECUTION_FAILED` for what no person can give: a model's reply, or folders of this machine
 */
export function toQuestion(server: string, { inputRequests = {}, requestState }: InputRequiredResult): SuspendOptions {
  const entries = Object.entries<InputRequest>(inputRequests);
  const foreign = entries.find(([, { method }]) => method !== 'elicitation/create');
  if (foreign) throw notServed(server, foreign[1].method);
  const asked = entries.map(([key, { params }]) => [key, params as ElicitParams] as const);
  const memo: McpMemo = {
    keys: asked.map(([key]) => key),
    links: asked.filter(([, { mode }]) => mode === 'url').map(([key]) => key),
    ...(requestState !== undefined && { requestState }),
  };
  const question = asked.map(([, params]) => questionOf(server, params)).join('\n');
  return {
    question: question === '' ? `MCP server "${server}" asks whether it may go on.` : question,
    schema: schemaOf(asked),
    memo: memo as unknown as JsonValue,
    takesDenial: true,
  };
}

/** What the server is told: what a person answered, by the server's names. */
export function toInputResponses({ keys, links }: McpMemo, answer: SuspensionAnswer): Record<string, ElicitAnswer> {
  const isOne = keys.length === 1;
  return Object.fromEntries(
    keys.map((key) => {
      const value = isOne ? answer.value : (answer.value as Record<string, JsonValue> | null)?.[key];
      return [key, toElicitAnswer(value, answer.denied !== undefined, links.includes(key))];
    }),
  );
}

/** One answer in the protocol's words. */
export function toElicitAnswer(value: JsonValue | undefined, isDenied: boolean, isLink: boolean): ElicitAnswer {
  if (isDenied || value === false) return { action: 'decline' };
  if (isLink) return { action: 'accept' };
  return { action: 'accept', content: (value ?? {}) as NonNullable<ElicitAnswer['content']> };
}

/** What one request asks a person, and the shape of the answer. */
export function questionOf(server: string, { message, mode, url }: ElicitParams): string {
  const link = mode === 'url' && url !== undefined ? ` Open ${url} and answer true when it is done.` : '';
  return `MCP server "${server}" asks: ${message}${link}`;
}

export function answerSchemaOf({ mode, requestedSchema }: ElicitParams): JsonSchema {
  if (mode === 'url') return { type: 'boolean' };
  return (requestedSchema as JsonSchema | undefined) ?? { type: 'object' };
}

function schemaOf(asked: readonly (readonly [string, ElicitParams])[]): JsonSchema {
  const [first] = asked;
  if (!first) return {};
  if (asked.length === 1) return answerSchemaOf(first[1]);
  return {
    type: 'object',
    properties: Object.fromEntries(asked.map(([key, params]) => [key, answerSchemaOf(params)])),
    required: asked.map(([key]) => key),
  };
}

function notServed(server: string, method: string): McpError {
  const what = method === 'sampling/createMessage' ? 'a reply of a model' : `an answer to ${method}`;
  return new McpError(
    'TOOL_EXECUTION_FAILED',
    `MCP server "${server}" wants ${what} for this call, which is not given.`,
  );
}
