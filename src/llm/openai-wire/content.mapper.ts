import type { WireMessage } from './wire-reply.types.js';

/** The text of a content: a string, null, or an array of parts whose texts are joined. */
export function contentText(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content.map(partText).join('');
}

/** The field is `reasoning_content` for DeepSeek and GLM, `reasoning` for Ollama and OpenRouter. */
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
