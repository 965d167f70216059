import type { RunUsage } from '../../run/index.js';
import type { ReplyPart } from './run-reply.mapper.js';

/** The members that all chunks of a completion share. */
export interface CompletionHead {
  readonly id: string;
  /** Seconds since 1970. */
  readonly created: number;
  readonly model: string;
}

/** The completion of a reply. @see https://platform.openai.com/docs/api-reference/chat/object */
export async function toCompletion(head: CompletionHead, parts: AsyncIterable<ReplyPart>): Promise<object> {
  let content = '';
  let reasoning = '';
  for await (const part of parts) {
    if (part.kind === 'text') content += part.text;
    else if (part.kind === 'reasoning') reasoning += part.text;
    else {
      const { reason, usage } = part;
      const calls = toCalls(part);
      const message = {
        role: 'assistant',
        content: content === '' && calls.length > 0 ? null : content,
        refusal: null,
        ...(reasoning !== '' && { reasoning_content: reasoning }),
        ...(calls.length > 0 && { tool_calls: calls }),
      };
      const choice = { index: 0, message, logprobs: null, finish_reason: reason };
      return { ...head, object: 'chat.completion', choices: [choice], usage: toUsage(usage) };
    }
  }
  throw new Error('The reply has no end.');
}

/** The chunks of a streamed reply. @see https://platform.openai.com/docs/api-reference/chat-streaming */
export async function* toChunks(
  head: CompletionHead,
  parts: AsyncIterable<ReplyPart>,
  hasUsage: boolean,
): AsyncGenerator<object, void> {
  const base = { ...head, object: 'chat.completion.chunk', ...(hasUsage && { usage: null }) };
  const chunk = (delta: object, reason: string | null = null) => ({
    ...base,
    choices: [{ index: 0, delta, logprobs: null, finish_reason: reason }],
  });
  let isFirst = true;
  for await (const part of parts) {
    if (isFirst) yield chunk({ role: 'assistant', content: '', refusal: null });
    isFirst = false;
    if (part.kind === 'text') yield chunk({ content: part.text });
    else if (part.kind === 'reasoning') yield chunk({ reasoning_content: part.text });
    else {
      for (const [index, call] of toCalls(part).entries()) yield chunk({ tool_calls: [{ index, ...call }] });
      yield chunk({}, part.reason);
      if (hasUsage) yield { ...base, choices: [], usage: toUsage(part.usage) };
    }
  }
}

function toCalls({ calls }: Extract<ReplyPart, { kind: 'end' }>) {
  return calls.map(({ id, name, arguments: args }) => ({
    id,
    type: 'function' as const,
    function: { name, arguments: args },
  }));
}

function toUsage(usage: RunUsage) {
  return {
    prompt_tokens: usage.prompt_tokens,
    completion_tokens: usage.completion_tokens,
    total_tokens: usage.total_tokens,
    prompt_tokens_details: { cached_tokens: usage.cached_tokens ?? 0 },
    completion_tokens_details: { reasoning_tokens: usage.reasoning_tokens ?? 0 },
  };
}
