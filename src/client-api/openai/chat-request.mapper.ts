import { EFFORTS } from '../../config/index.js';
import type { AgentRequest, ClientTool } from '../../agent/index.js';
import type { ModelParameters, ToolChoice } from '../../llm/chat/index.js';
import { type ChatMessage, type ChatRequest, chatRequestSchema, type ChatTool } from './chat-request.schema.js';
import { type ClientMessage, invalid } from '../client-conversation.js';
import { parsedBy } from '../client-request.parser.js';

/** @throws AppError `VALIDATION_FAILED` with the mistakes */
export function parseChatRequest(body: unknown): ChatRequest {
  return parsedBy(chatRequestSchema, body);
}

/** An effort that no model has is left out. */
export function toEffort(given: string | null | undefined): ModelParameters['effort'] {
  return EFFORTS.find((each) => each === given);
}

/** The options of a request beside its messages. Sampling parameters that a model lacks are left out. */
export function toOptions(request: ChatRequest): Omit<AgentRequest, 'query'> {
  const { tools, tool_choice: choice, response_format: format } = request;
  const clientTools = (tools ?? []).flatMap((tool) => (isFunction(tool) ? [toClientTool(tool)] : []));
  const parameters = toParameters(request);
  return {
    isLenient: true,
    ...(clientTools.length > 0 && { clientTools }),
    ...(choice && { toolChoice: toChoice(choice) }),
    ...(format && format.type !== 'text' && { responseFormat: toFormat(format) }),
    ...(Object.keys(parameters).length > 0 && { parameters }),
  };
}

function isFunction(tool: NonNullable<ChatRequest['tools']>[number]): tool is ChatTool {
  return tool.type === 'function';
}

function toClientTool({ function: { name, description, parameters } }: ChatTool): ClientTool {
  return { name, ...(description && { description }), ...(parameters && { inputSchema: parameters }) };
}

function toChoice(choice: NonNullable<ChatRequest['tool_choice']>): ToolChoice {
  return typeof choice === 'string' ? choice : { name: choice.function.name };
}

function toFormat(
  format: Exclude<NonNullable<ChatRequest['response_format']>, { type: 'text' }>,
): NonNullable<AgentRequest['responseFormat']> {
  if (format.type === 'json_object') return 'json';
  const { name, schema } = format.json_schema;
  return { schema: schema ?? { type: 'object' }, ...(name !== undefined && { name }) };
}

function toParameters(request: ChatRequest): ModelParameters {
  const { temperature, top_p: topP, seed, stop, reasoning_effort: given } = request;
  const maxTokens = request.max_completion_tokens ?? request.max_tokens;
  const { frequency_penalty: frequencyPenalty, presence_penalty: presencePenalty } = request;
  const effort = toEffort(given);
  const parameters = { temperature, maxTokens, topP, frequencyPenalty, presencePenalty, seed, effort };
  const all = { ...parameters, stop: typeof stop === 'string' ? [stop] : stop };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined && value !== null));
}

/** The messages in the form that all protocols of clients have in common. */
export function toClientMessages(messages: readonly ChatMessage[]): ClientMessage[] {
  return messages.map((message, at) => toClientMessage(message, `messages.${at}`));
}

function toClientMessage(message: ChatMessage, at: string): ClientMessage {
  const { text, images } = readContent(message, at);
  const base = { text, images, calls: [], at };
  switch (message.role) {
    case 'system':
    case 'developer':
      return { ...base, role: 'system' };
    case 'user':
      return { ...base, role: 'user' };
    case 'tool':
      return { ...base, role: 'tool', callId: message.tool_call_id };
    case 'assistant': {
      const calls = (message.tool_calls ?? []).map(({ id, function: called }) => ({
        id,
        name: called.name,
        arguments: called.arguments,
      }));
      return { ...base, role: 'assistant', calls };
    }
  }
}

function readContent({ role, content }: ChatMessage, at: string): Pick<ClientMessage, 'text' | 'images'> {
  if (typeof content === 'string') return { text: content, images: [] };
  const texts: string[] = [];
  const images: string[] = [];
  for (const [index, part] of (content ?? []).entries()) {
    const place = `${at}.content.${index}`;
    const { text = part['refusal'], image_url: image } = part as Record<string, unknown>;
    if (part.type === 'image_url' && role === 'user') images.push(urlOf(image, place));
    else if (typeof text === 'string') texts.push(text);
    else
      throw invalid(
        `${place}.type`,
        `"${part.type}" is not supported: send text, or images in a user message`,
        part.type,
      );
  }
  return { text: texts.join('\n'), images };
}

function urlOf(image: unknown, place: string): string {
  const url = typeof image === 'string' ? image : (image as { readonly url?: unknown } | undefined)?.url;
  if (typeof url !== 'string') throw invalid(`${place}.image_url`, 'must have a url');
  return url;
}
