import type { ModelCapabilities } from './chat.types.js';
import type { ContentPart, ImagePart, Message } from './message.types.js';

/** Whether the model can read a picture from there. */
export function canRead({ url }: Pick<ImagePart, 'url'>, { vision, imageUrls = true }: ModelCapabilities): boolean {
  return vision && (imageUrls || url.startsWith('data:'));
}

/**
 * The messages with a note in place of every picture that the model cannot read: a conversation may have begun with
 * another one. The same array when there is none.
 */
export function fitImages(messages: readonly Message[], capabilities: ModelCapabilities): readonly Message[] {
  const isFit = (part: ContentPart) => part.type === 'text' || canRead(part, capabilities);
  const isAllFit = (message: Message) =>
    message.role !== 'user' || typeof message.content === 'string' || message.content.every(isFit);
  if (messages.every(isAllFit)) return messages;
  return messages.map((message) => {
    if (message.role !== 'user' || typeof message.content === 'string') return message;
    return { ...message, content: message.content.map((part) => (isFit(part) ? part : NOTE)) };
  });
}

const NOTE: ContentPart = { type: 'text', text: '[An image that this model cannot see]' };
