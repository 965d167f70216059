import type { ContentPart, ToolMessage, UserMessage } from '../../llm/index.js';

/**
 * Results as what the user says, with what the tools show behind their text.
 * @param label names a tool, where several results come together
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
