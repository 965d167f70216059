import type { ChatRequest, ModelCapabilities, ResponseFormat } from './chat.types.js';
import type { Message } from './message.types.js';

/**
 * The format as an instruction, for a model that does not enforce it. It contains "JSON", which some JSON modes
 * require.
 */
export function describeFormat(format: ResponseFormat): string {
  const wanted =
    format === 'json'
      ? 'one JSON object and nothing else: no words around it, no code fence.'
      : 'JSON that fits the JSON Schema below and nothing else: no words around it, no code fence, not the schema itself.';
  const command = `Your final answer must be ${wanted}`;
  return format === 'json' ? command : `${command}\n\n${JSON.stringify(format.schema)}`;
}

/** Appends the format to the system prompt. */
export function withFormat(messages: readonly Message[], format: ResponseFormat): readonly Message[] {
  const description = describeFormat(format);
  const [first, ...rest] = messages;
  if (first?.role !== 'system') return [{ role: 'system', content: description }, ...messages];
  return [{ ...first, content: `${first.content}\n\n${description}` }, ...rest];
}

/** For a model without a JSON mode, replaces `responseFormat` by an instruction. */
export function fitFormat(request: ChatRequest, { jsonMode }: ModelCapabilities): ChatRequest {
  const { responseFormat, messages, ...rest } = request;
  if (responseFormat === undefined || jsonMode) return request;
  return { ...rest, messages: withFormat(messages, responseFormat) };
}
