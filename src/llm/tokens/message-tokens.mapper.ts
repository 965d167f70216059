import type { ContentPart, Message } from '../message.types.js';
import type { TokenCounter } from './token-counter.js';

/**
 * Tokens of the delimiters `<|start|>`, `<|message|>` and `<|end|>`, without the role; and one token for a name. From
 * OpenAI's cookbook, "How to count tokens with tiktoken" (`num_tokens_from_messages`). Other chat formats (ChatML's
 * `<|im_start|>`, Llama 3's headers) add three to five tokens.
 */
const MESSAGE_TOKENS = 3;
const ROLE_TOKENS = 1;
const NAME_TOKENS = 1;
/** A tool call is counted as a separate message to the tool; OpenAI does not document its format. */
const CALL_TOKENS = MESSAGE_TOKENS + ROLE_TOKENS + NAME_TOKENS;

/**
 * An image of one megapixel, whatever the actual size. OpenAI counts 765 (a square of 1024 at high detail, 85 + 4 ×
 * 170), Anthropic 1,334 (width × height / 750).
 */
const IMAGE_TOKENS = 1000;

/**
 * Tokens of whole messages, with the overhead of chat formats. Additive over messages: excludes the three tokens that
 * start a reply. Includes reasoning, as if the provider required it.
 * @param instructions counter for system messages
 */
export function countMessages(
  counter: TokenCounter,
  messages: readonly Message[],
  instructions: TokenCounter = counter,
): number {
  let sum = 0;
  for (const message of messages) {
    sum += MESSAGE_TOKENS + ROLE_TOKENS;
    sum += contentTokens(message.role === 'system' ? instructions : counter, message);
  }
  return sum;
}

/** Base64 characters of audio per token: WAV of 16 bit and 16 kHz has 32,000 bytes and about 32 tokens a second. */
const AUDIO_CHARACTERS = 1333;

function partTokens(counter: TokenCounter, part: ContentPart): number {
  return part.type === 'text' ? counter.count(part.text) : IMAGE_TOKENS;
}

function contentTokens(counter: TokenCounter, message: Message): number {
  switch (message.role) {
    case 'system':
      return counter.count(message.content);
    case 'user':
      return typeof message.content === 'string'
        ? counter.count(message.content)
        : message.content.reduce((sum, part) => sum + partTokens(counter, part), 0);
    case 'assistant':
      return (message.toolCalls ?? []).reduce(
        (sum, call) => sum + CALL_TOKENS + counter.count(call.name) + counter.count(call.arguments),
        counter.count(message.content) + counter.count(message.reasoning ?? ''),
      );
    case 'tool':
      return (
        NAME_TOKENS +
        counter.count(message.name) +
        counter.count(message.content) +
        (message.images?.length ?? 0) * IMAGE_TOKENS +
        (message.audio ?? []).reduce((sum, { url }) => sum + Math.ceil(url.length / AUDIO_CHARACTERS), 0)
      );
  }
}
