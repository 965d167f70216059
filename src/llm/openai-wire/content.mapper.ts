import type { WireMessage } from './wire-reply.types.js';

/** The text of a content: a string, null, or an array of parts of which the text is joined. */
export function contentText(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content.map(partText).join('');
}

/** `reasoning_content` is DeepSeek's and GLM's name for it, `reasoning` Ollama's and OpenRouter's. */
export function reasoningText(message: WireMessage): string {
  if (typeof message.reasoning_content === 'string') return message.reasoning_content;
  return typeof message.reasoning === 'string' ? message.reasoning : '';
}

export function refusalText(message: WireMessage): string {
  return typeof message.refusal === 'string' ? message.refusal : '';
}

function partText(part: unknown): string {
  if (typeof part === 'string') return part;
  if (typeof part !== 'object' || part === null || !('text' in part)) return '';
  return typeof part.text === 'string' ? part.text : '';
}
