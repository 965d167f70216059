import type { WireMessage } from './wire-reply.types.js';

/** The text of a content: a string, null, or an array of parts whose texts are joined. */
export function contentText(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content.map(partText).join('');
}

/**
 * The field is `reasoning_content` for DeepSeek and GLM, `reasoning` for Ollama and OpenRouter. Mistral sends parts of
 * the content with the type `thinking` (docs.mistral.ai, "Reasoning").
 */
export function reasoningText({ reasoning_content, reasoning, content }: WireMessage): string {
  if (typeof reasoning_content === 'string' && reasoning_content !== '') return reasoning_content;
  if (typeof reasoning === 'string' && reasoning !== '') return reasoning;
  return Array.isArray(content) ? content.map((part) => contentText(thinkingOf(part))).join('') : '';
}

function thinkingOf(part: unknown): unknown {
  return typeof part === 'object' && part !== null && 'thinking' in part ? part.thinking : '';
}

export function refusalText(message: WireMessage): string {
  return typeof message.refusal === 'string' ? message.refusal : '';
}

function partText(part: unknown): string {
  if (typeof part === 'string') return part;
  if (typeof part !== 'object' || part === null || !('text' in part)) return '';
  return typeof part.text === 'string' ? part.text : '';
}
