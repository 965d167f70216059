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
  if (messages.every((message) => partsOf(message).every(isFit))) return messages;
  return messages.map((message) => (partsOf(message).every(isFit) ? message : fitMessage(message, isFit)));
}

function partsOf(message: Message): readonly ContentPart[] {
  if (message.role === 'tool') return message.images ?? [];
  return message.role === 'user' && typeof message.content !== 'string' ? message.content : [];
}

function fitMessage(message: Message, isFit: (part: ContentPart) => boolean): Message {
  if (message.role === 'tool') {
    const { images = [], ...told } = message;
    const seen = images.filter(isFit);
    const notes = images.filter((image) => !isFit(image)).map(() => NOTE);
    return { ...told, content: [told.content, ...notes].join('\n'), ...(seen.length > 0 && { images: seen }) };
  }
  if (message.role !== 'user' || typeof message.content === 'string') return message;
  return { ...message, content: message.content.map((part) => (isFit(part) ? part : { type: 'text', text: NOTE })) };
}

const NOTE = '[An image that this model cannot see]';
