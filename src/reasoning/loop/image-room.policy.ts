import { imageBytes, MAX_IMAGES } from '../../kernel/index.js';
import type { ImagePart, Message, ToolMessage } from '../../llm/index.js';

const NOTE = '[An image that was shown here made room for later ones]';

/**
 * Enforces the image limits of a request and of a stored turn: the latest tool images stay, earlier ones become notes.
 * Earlier audio is omitted.
 * Mutates the turn.
 * @param maxBytes maximum total size of images that are data
 */
export function makeImageRoom(turn: Message[], maxBytes: number): void {
  let [images, bytes] = [0, 0];
  for (let at = turn.length - 1; at >= 0; at--) {
    let message = turn[at]!;
    if (message.role !== 'tool') continue;
    if (message.audio) {
      const audioBytes = message.audio.reduce((sum, { url }) => sum + imageBytes(url), 0);
      if (bytes + audioBytes <= maxBytes) bytes += audioBytes;
      else turn[at] = message = withoutAudio(message);
    }
    if (!message.images) continue;
    turn[at] = withImagesWhere(message, message.images, ({ url }) => {
      const added = imageBytes(url);
      if (images === MAX_IMAGES || bytes + added > maxBytes) return false;
      images++;
      bytes += added;
      return true;
    });
  }
}

/** The text of the result refers to the audio. */
function withoutAudio({ audio: _audio, ...message }: ToolMessage): ToolMessage {
  return message;
}

function withImagesWhere(
  message: ToolMessage,
  images: readonly ImagePart[],
  isRetained: (image: ImagePart) => boolean,
): ToolMessage {
  const retained = images.filter(isRetained);
  if (retained.length === images.length) return message;
  const { images: _images, content, ...rest } = message;
  const notes = Array.from({ length: images.length - retained.length }, () => NOTE);
  return { ...rest, content: [content, ...notes].join('\n'), ...(retained.length > 0 && { images: retained }) };
}
