import type { AgentRequest, ClientTool } from '../../../agent/index.js';
import type { GivenDecision } from '../../../agent/decision/index.js';
import type { ModelParameters, ToolChoice } from '../../../llm/chat/index.js';
import { parseClientCallId } from '../../client-call-id.js';
import { type ClientMessage, invalid } from '../../client-conversation.js';
import { parsedBy } from '../../client-request.parser.js';
import { toEffort } from '../chat-request.mapper.js';
import {
  type FunctionTool,
  functionToolSchema,
  type InputItem,
  type MessageItem,
  type ResponseRequest,
  responseRequestSchema,
} from './response-request.schema.js';

type ItemOf<Type> = Extract<InputItem, { type: Type }>;

/** @throws AppError `VALIDATION_FAILED` with the mistakes */
export function parseResponseRequest(body: unknown): ResponseRequest {
  return parsedBy(responseRequestSchema, body);
}

/** The function tools of a request, also those in the groups that Codex sends; tools of other types are ignored. */
export function functionsIn(tools: readonly unknown[] | null | undefined): FunctionTool[] {
  return (tools ?? []).flatMap((tool) => {
    const nested = (tool as { readonly tools?: readonly unknown[] }).tools;
    if (Array.isArray(nested)) return functionsIn(nested);
    const parsed = functionToolSchema.safeParse(tool);
    return parsed.success ? [parsed.data] : [];
  });
}

/** The options of a request beside its input. */
export function toOptions(request: ResponseRequest, tools: readonly FunctionTool[]): Omit<AgentRequest, 'query'> {
  const parameters = toParameters(request);
  const clientTools = tools.map(toClientTool);
  const choice = toChoice(request.tool_choice);
  const format = toFormat(request.text?.format);
  return {
    isLenient: true,
    ...(clientTools.length > 0 && { clientTools }),
    ...(choice && { toolChoice: choice }),
    ...(format && { responseFormat: format }),
    ...(Object.keys(parameters).length > 0 && { parameters }),
    ...(request.metadata && Object.keys(request.metadata).length > 0 && { metadata: request.metadata }),
  };
}

function toClientTool({ name, description, parameters }: FunctionTool): ClientTool {
  return { name, ...(description && { description }), ...(parameters && { inputSchema: parameters }) };
}

/** A choice among tools that an agent lacks is ignored. */
function toChoice(choice: ResponseRequest['tool_choice']): ToolChoice | undefined {
  if (choice === 'none' || choice === 'required') return choice;
  if (typeof choice !== 'object' || choice?.type !== 'function' || choice.name === undefined) return undefined;
  return { name: choice.name };
}

function toFormat(
  format: NonNullable<ResponseRequest['text']>['format'] | undefined,
): AgentRequest['responseFormat'] | undefined {
  if (format?.type === 'json_object') return 'json';
  if (format?.type !== 'json_schema') return undefined;
  return { schema: format.schema ?? { type: 'object' }, ...(format.name !== undefined && { name: format.name }) };
}

function toParameters(request: ResponseRequest): ModelParameters {
  const { temperature, top_p: topP, max_output_tokens: maxTokens, reasoning } = request;
  const all = { temperature, topP, maxTokens, effort: toEffort(reasoning?.effort) };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined && value !== null));
}

/** The items of a request as messages. A message and the calls after it are one message, as in a chat. */
export function toClientMessages(items: readonly InputItem[]): ClientMessage[] {
  const messages: ClientMessage[] = [];
  for (const [index, item] of items.entries()) {
    const at = `input.${index}`;
    if (isItem(item, 'function_call')) addCall(messages, item, at);
    else if (isItem(item, 'mcp_call')) messages.push(...toServerCall(item, at));
    else if (isItem(item, 'function_call_output'))
      messages.push({ role: 'tool', text: textOf(item.output, at), images: [], calls: [], callId: item.call_id, at });
    else if ('role' in item && 'content' in item) messages.push(toMessage(item as MessageItem, at));
  }
  return messages;
}

function isItem<Type extends 'function_call' | 'mcp_call' | 'function_call_output' | 'mcp_approval_response'>(
  item: InputItem,
  type: Type,
): item is ItemOf<Type> {
  return item.type === type;
}

function addCall(messages: ClientMessage[], item: ItemOf<'function_call'>, at: string): void {
  const call = { id: item.call_id, name: item.name, arguments: item.arguments };
  const last = messages.at(-1);
  if (last?.role === 'assistant' && !last.isServer)
    messages[messages.length - 1] = { ...last, calls: [...last.calls, call] };
  else messages.push({ role: 'assistant', text: '', images: [], calls: [call], at });
}

/** A call of the server, which an earlier response showed: the model reads it again. */
function toServerCall({ id, name, arguments: args, output, error }: ItemOf<'mcp_call'>, at: string): ClientMessage[] {
  const base = { images: [], at, isServer: true } as const;
  return [
    { ...base, role: 'assistant', text: '', calls: [{ id, name, arguments: args }] },
    { ...base, role: 'tool', text: output ?? JSON.stringify(error ?? null), calls: [], callId: id },
  ];
}

function toMessage({ role, content }: MessageItem, at: string): ClientMessage {
  const images =
    typeof content === 'string' ? [] : content.flatMap((part, index) => imageOf(part, `${at}.content.${index}`));
  if (images.length > 0 && role !== 'user')
    throw invalid(`${at}.content`, 'may have images in a message of the user only');
  const own = role === 'developer' ? 'system' : role;
  return { role: own, text: textOf(content, at), images, calls: [], at };
}

function imageOf(part: { readonly type: string; readonly image_url?: unknown }, place: string): readonly string[] {
  if (part.type !== 'input_image') return [];
  if (typeof part.image_url === 'string') return [part.image_url];
  throw invalid(`${place}.image_url`, 'must be a URL or a data URI: files of OpenAI are not available here');
}

function textOf(content: MessageItem['content'], at: string): string {
  if (typeof content === 'string') return content;
  return content
    .filter(({ type }) => type !== 'input_image')
    .map(({ type, text, ...part }, index) => {
      const found = text ?? part['refusal'];
      if (typeof found === 'string') return found;
      throw invalid(`${at}.content.${index}.type`, `"${type}" is not supported: send text or images`, type);
    })
    .join('\n');
}

/** Decisions at the end of a request, and the run that waits for them. */
export interface GivenDecisions {
  readonly runId: string;
  readonly decisions: ReadonlyMap<string, GivenDecision>;
  readonly hasApprovals: boolean;
}

/**
 * The results and approvals at the end of the items.
 * @returns `undefined` without them, or for those of another server
 * @throws AppError `VALIDATION_FAILED` for an approval of an unknown request
 */
export function decisionsIn(items: readonly InputItem[]): GivenDecisions | undefined {
  const last = items.slice(items.findLastIndex((item) => !isDecision(item)) + 1);
  const decisions = new Map<string, GivenDecision>();
  const runs = new Set<string | undefined>();
  for (const [index, item] of last.entries()) {
    const at = `input.${items.length - last.length + index}`;
    const place = isItem(item, 'mcp_approval_response') ? approvalPlace(item, at) : callPlace(item);
    runs.add(place?.runId);
    if (place) decisions.set(place.step, toDecision(item, at));
  }
  const [runId] = runs;
  if (runs.size !== 1 || runId === undefined) return undefined;
  return { runId, decisions, hasApprovals: last.some(({ type }) => type === 'mcp_approval_response') };
}

function isDecision({ type }: InputItem): boolean {
  return type === 'function_call_output' || type === 'mcp_approval_response';
}

function approvalPlace({ approval_request_id: id }: ItemOf<'mcp_approval_response'>, at: string) {
  const place = parseClientCallId(id, 'mcpr');
  if (!place) throw invalid(`${at}.approval_request_id`, `names no approval request of this server: "${id}"`, id);
  return place;
}

function callPlace(item: InputItem) {
  return isItem(item, 'function_call_output') ? parseClientCallId(item.call_id) : undefined;
}

function toDecision(item: InputItem, at: string): GivenDecision {
  if (isItem(item, 'function_call_output')) return { kind: 'input', value: textOf(item.output, at) };
  const { approve, reason } = item as ItemOf<'mcp_approval_response'>;
  return approve ? { kind: 'approve' } : { kind: 'deny', ...(reason && { reason }) };
}
