import { AppError, fieldMistake, type FieldMistake, MAX_IMAGES, parseImage } from '../common/index.js';
import { canRead, type ChatModel } from '../llm/index.js';
import type { GivenImage } from './agent.types.js';

/**
 * Checks the pictures of a request.
 * @param maxBytes of all of them that are data, in bytes
 * @throws AppError `VALIDATION_FAILED` naming the picture
 */
export function assertImages(images: readonly GivenImage[], maxBytes: number): void {
  if (images.length > MAX_IMAGES)
    throw invalid(fieldMistake('images', `there may be ${MAX_IMAGES} at most`, 'arrayMaxSize', images));
  let bytes = 0;
  for (const [at, { url }] of images.entries()) {
    const image = parseImage(url);
    if (typeof image === 'string') throw invalid(fieldMistake(`images.${at}.url`, image, 'isImage', url));
    if (image.kind === 'data') bytes += image.bytes;
  }
  if (bytes > maxBytes) {
    const message = `together they have ${bytes} bytes, and may have ${maxBytes} (AGENT_MAX_IMAGE_BYTES)`;
    throw invalid(fieldMistake('images', message, 'maxBytes', images));
  }
}

/** @throws AppError `MODEL_CANNOT_SEE` when the model cannot read one of the pictures */
export function assertSeen(images: readonly GivenImage[], { provider, name, capabilities }: ChatModel): void {
  if (images.every((image) => canRead(image, capabilities))) return;
  const who = `The model ${name} of ${provider}`;
  const why = capabilities.vision
    ? 'fetches no images from URLs: give them as data URIs'
    : 'cannot see images: ask without them, or choose a model that can (LLM_CAPABILITIES=vision says that it can)';
  throw new AppError('MODEL_CANNOT_SEE', `${who} ${why}.`, { details: { provider, model: name } });
}

function invalid(mistake: FieldMistake): AppError {
  const { field, message } = mistake;
  return new AppError('VALIDATION_FAILED', `The request is not valid: ${field}: ${message}.`, {
    details: { errors: [mistake] },
  });
}
