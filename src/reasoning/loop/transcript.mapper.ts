import type { Message } from '../../llm/index.js';

/** Default length of one message in a transcript, in UTF-16 units; longer text rarely matters for a summary. */
const MAX_LENGTH = 8000;

function shortened(content: Message['content'], maxLength: number): string {
  const text =
    typeof content === 'string'
      ? content
      : content.map((part) => (part.type === 'text' ? part.text : '[An image]')).join('\n');
  return text.length <= maxLength ? text : `${text.slice(0, maxLength)} …`;
}

/**
 * The prompt for a summary: messages as JSON lines, so that their content cannot imitate the surrounding prompt.
 * @param former the summary of earlier messages
 * @param maxLength maximum length of a message, in UTF-16 units
 */
export function toTranscript(former: string | null, messages: readonly Message[], maxLength = MAX_LENGTH): string {
  const lines = messages.map((message) => {
    const { role, content } = message;
    if (role === 'tool') {
      const images = message.images?.length;
      const text = shortened(content, maxLength);
      return JSON.stringify({ role, tool: message.name, content: text, ...(images && { images }) });
    }
    const calls =
      role === 'assistant'
        ? message.toolCalls?.map(({ name, arguments: args }) => ({ name, args: shortened(args, maxLength) }))
        : [];
    return JSON.stringify({ role, content: shortened(content, maxLength), ...(calls?.length && { calls }) });
  });
  const before = former === null ? '' : `The summary so far:\n${JSON.stringify(former)}\n\n`;
  return `${before}The conversation ${former === null ? '' : 'since then '}to be summed up, a JSON object a message:\n${lines.join('\n')}`;
}
