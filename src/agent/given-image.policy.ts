import { AppError } from '../errors/index.js';
import { fieldMistake, type FieldMistake } from '../kernel/index.js';
import { MAX_IMAGES, type ParsedImage, parseImage } from '../kernel/media/index.js';
import { canRead, imageExcess } from '../llm/index.js';
import type { ChatModel } from '../llm/chat/index.js';
import type { GivenImage } from './agent.types.js';

/**
 * Reads the images of a request: data URIs in their standard form, with the media type of their bytes.
 * @param maxBytes of all images that are data, decoded
 * @throws AppError `VALIDATION_FAILED` naming the image
 */
export function readImages(images: readonly GivenImage[], maxBytes: number): ParsedImage[] {
  if (images.length > MAX_IMAGES)
    throw invalid(fieldMistake('images', `there may be ${MAX_IMAGES} at most`, 'arrayMaxSize', images));
  const read = images.map(({ url }, at) => {
    const image = parseImage(url);
    if (typeof image === 'string') throw invalid(fieldMistake(`images.${at}.url`, image, 'isImage', url));
    return image;
  });
  const bytes = read.reduce((sum, image) => sum + (image.kind === 'data' ? image.bytes : 0), 0);
  if (bytes <= maxBytes) return read;
  const message = `together they have ${bytes} bytes, and may have ${maxBytes} (AGENT_MAX_IMAGE_BYTES)`;
  throw invalid(fieldMistake('images', message, 'maxBytes', images));
}

/**
 * @throws AppError `MODEL_CANNOT_SEE` when the model cannot read one of the images; `VALIDATION_FAILED` naming an image that
 * exceeds the limits of the model's provider
 */
export function assertSeen(images: readonly ParsedImage[], model: ChatModel): void {
  const { provider, name, capabilities } = model;
  if (!images.every((image) => canRead(image, capabilities))) {
    const who = `The model "${name}" of the provider ${provider}`;
    const why = capabilities.vision
      ? 'fetches no images from URLs: give them as data URIs'
      : 'does not support images: omit them, or use another model (LLM_CAPABILITIES=vision declares that it supports them)';
    throw new AppError('MODEL_CANNOT_SEE', `${who} ${why}.`, { details: { provider, model: name } });
  }
  const { maxCount = Infinity } = capabilities.imageLimits ?? {};
  if (images.length > maxCount) {
    const message = `there may be ${maxCount} at most for the model ${name} of ${provider}`;
    throw invalid(fieldMistake('images', message, 'arrayMaxSize', images));
  }
  for (const [at, image] of images.entries()) {
    const excess = imageExcess(image, capabilities.imageLimits);
    if (excess)
      throw invalid(fieldMistake(`images.${at}.url`, `${excess} (${provider}:${name})`, 'isTaken', image.url));
  }
}

function invalid(mistake: FieldMistake): AppError {
  const { field, message } = mistake;
  return new AppError('VALIDATION_FAILED', `The request is not valid: ${field}: ${message}.`, {
    details: { errors: [mistake] },
  });
}
