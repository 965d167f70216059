import { imageBytes, MAX_IMAGES } from '../../common/index.js';
import type { ImagePart, Message, ToolMessage } from '../../llm/index.js';

const NOTE = '[An image that was shown here made room for later ones]';

/**
 * Enforces the image limits of a request and of a stored turn: the latest tool images stay, earlier ones become notes.
 * Mutates the turn.
 * @param maxBytes maximum total size of images that are data
 */
export function makeImageRoom(turn: Message[], maxBytes: number): void {
  let [images, bytes] = [0, 0];
  for (let at = turn.length - 1; at >= 0; at--) {
    const message = turn[at]!;
    if (message.role !== 'tool' || !message.images) continue;
    turn[at] = withImagesWhere(message, message.images, ({ url }) => {
      const added = imageBytes(url);
      if (images === MAX_IMAGES || bytes + added > maxBytes) return false;
      images++;
      bytes += added;
      return true;
    });
  }
}

function withImagesWhere(
  message: ToolMessage,
  images: readonly ImagePart[],
  isKept: (image: ImagePart) => boolean,
): ToolMessage {
  const kept = images.filter(isKept);
  if (kept.length === images.length) return message;
  const { images: _images, content, ...rest } = message;
  const notes = Array.from({ length: images.length - kept.length }, () => NOTE);
  return { ...rest, content: [content, ...notes].join('\n'), ...(kept.length > 0 && { images: kept }) };
}
