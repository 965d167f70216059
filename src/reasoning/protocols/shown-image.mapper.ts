import type { ContentPart, ToolMessage, UserMessage } from '../../llm/chat/index.js';

/**
 * Maps results to a user message, with the tools' images after the text.
 * @param label names the tool of an image if there are several results
 */
export function toResultsOfUser(
  text: string,
  results: readonly ToolMessage[],
  label: (tool: string) => string,
): UserMessage {
  const shown = results.flatMap(({ name, images = [] }): ContentPart[] => {
    if (images.length === 0 || results.length === 1) return [...images];
    return [{ type: 'text', text: label(name) }, ...images];
  });
  return { role: 'user', content: shown.length === 0 ? text : [{ type: 'text', text }, ...shown] };
}
