import { EFFORTS } from '../config/index.js';
import { type ParsedImage, parseImage } from '../kernel/media/index.js';
import type {
  Effort,
  ImageLimits,
  ModelCapabilities,
  ModelParameters,
  ParameterLimits,
  ParameterName,
} from './chat/chat.types.js';
import type { ContentPart, ImagePart, Message } from './chat/message.types.js';

/** An unsupported parameter and the reason, as the end of "… takes ". */
interface RefusedParameter {
  readonly name: ParameterName;
  readonly reason: string;
}

interface FittedParameters {
  readonly taken: ModelParameters;
  readonly refused: readonly RefusedParameter[];
}

/** Splits parameters into supported and unsupported ones. */
export function fitParameters(parameters: ModelParameters, limits: ParameterLimits = {}): FittedParameters {
  const refused: RefusedParameter[] = [];
  const taken: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(parameters)) {
    const name = key as ParameterName;
    if (value === undefined) continue;
    const reason = reasonAgainst(name, parameters, limits);
    if (reason === undefined) taken[name] = value;
    else refused.push({ name, reason });
  }
  return { taken, refused };
}

const SAMPLING: readonly ParameterName[] = ['temperature', 'topP'];

function reasonAgainst(name: ParameterName, values: ModelParameters, limits: ParameterLimits): string | undefined {
  if (limits.lacking?.includes(name)) return `no ${name}`;
  if (SAMPLING.includes(name) && isBesideEffort(values, limits)) return `no ${name} beside an effort`;
  return reasonAgainstValue(name, values, limits);
}

function reasonAgainstValue(name: ParameterName, values: ModelParameters, limits: ParameterLimits): string | undefined {
  switch (name) {
    case 'temperature':
      return isOver(values.temperature, limits.maxTemperature)
        ? `a temperature of ${limits.maxTemperature} at most`
        : undefined;
    case 'stop':
      return isOver(values.stop?.length, limits.maxStops) ? `${limits.maxStops} in stop at most` : undefined;
    case 'topP':
      return limits.isOneOfTemperatureAndTopP && values.temperature !== undefined
        ? 'no topP beside a temperature'
        : undefined;
    case 'effort':
      return reasonAgainstEffort(values.effort, limits);
    case 'maxTokens':
    case 'frequencyPenalty':
    case 'presencePenalty':
    case 'seed':
      return undefined;
  }
}

function isBesideEffort({ effort }: ModelParameters, { hasNoSamplingBesideEffort }: ParameterLimits): boolean {
  return hasNoSamplingBesideEffort === true && isReasoned(effort);
}

function isOver(value: number | undefined, most: number | undefined): boolean {
  return value !== undefined && most !== undefined && value > most;
}

/** Whether a request asks for reasoning. */
export function isReasoned(effort: Effort | undefined): boolean {
  return effort !== undefined && effort !== 'none';
}

/** The reason why a model does not support an effort, as the end of "… takes "; undefined if it does. */
export function reasonAgainstEffort(effort: Effort | undefined, { efforts }: ParameterLimits): string | undefined {
  if (efforts === undefined || effort === undefined) return undefined;
  if (efforts.length === 0) return 'no effort';
  const canReason = efforts.some(isReasoned);
  const isPossible = effort === 'none' ? efforts.includes('none') : canReason;
  return isPossible ? undefined : `an effort of ${efforts.join(', ')} only`;
}

/** Parameters with the level of effort that the model supports: the nearest one, of two equally near ones the higher. */
export function withNearestEffort(parameters: ModelParameters, { efforts }: ParameterLimits = {}): ModelParameters {
  const { effort } = parameters;
  if (effort === undefined || effort === 'none' || efforts === undefined || efforts.includes(effort)) return parameters;
  const wanted = EFFORTS.indexOf(effort);
  const distance = (level: Effort) => Math.abs(EFFORTS.indexOf(level) - wanted);
  const [nearest] = efforts
    .filter(isReasoned)
    .toSorted((a, b) => distance(a) - distance(b) || EFFORTS.indexOf(b) - EFFORTS.indexOf(a));
  return nearest === undefined ? parameters : { ...parameters, effort: nearest };
}

/** Whether the model supports the image's source: a URL or inline data. */
export function canRead({ url }: Pick<ImagePart, 'url'>, { vision, imageUrls = true }: ModelCapabilities): boolean {
  return vision && (imageUrls || url.startsWith('data:'));
}

/** The exceeded provider limit, as the end of a sentence; `null` for an image within the limits. */
export function imageExcess(image: ParsedImage, limits: ImageLimits = {}): string | null {
  if (image.kind === 'url') return null;
  const { maxBase64Bytes = Infinity, maxSide = Infinity, mediaTypes } = limits;
  const { width, height } = image.size ?? { width: 0, height: 0 };
  if (mediaTypes && !mediaTypes.includes(image.mediaType)) {
    return `it is ${image.mediaType}, and the model takes ${mediaTypes.join(', ')}`;
  }
  if (image.data.length > maxBase64Bytes) {
    return `it has ${image.data.length} bytes in base64, and the model takes ${maxBase64Bytes}`;
  }
  if (Math.max(width, height) <= maxSide) return null;
  return `it has ${width} x ${height} pixels, and the model takes ${maxSide} on a side`;
}

/**
 * Adapts messages to a model: corrects wrong media types, and replaces by a note every image that the model cannot see,
 * that is invalid, or that exceeds the provider's limits. If a request has too many images, the latest stay. Omits
 * audio for a model without audio input. Returns the same array if nothing changes.
 */
export function fitImages(given: readonly Message[], capabilities: ModelCapabilities): readonly Message[] {
  const messages = capabilities.audio ? given : withoutAudio(given);
  const fitted = new Map<ImagePart, ContentPart>();
  const shown: ImagePart[] = [];
  for (const part of messages.flatMap(imagesOf)) {
    const fit = fitImage(part, capabilities);
    if (fit !== part) fitted.set(part, fit);
    if (fit.type === 'image') shown.push(part);
  }
  const room = roomFor(shown.map(parsed), capabilities.imageLimits);
  for (const part of shown.slice(0, Math.max(0, shown.length - room))) fitted.set(part, toNote(TOO_MANY));
  return fitted.size === 0 ? messages : replaceImages(messages, (part) => fitted.get(part) ?? part);
}

/** Replaces every image by a note. Returns the same array if there are no images. */
export function withoutImages(messages: readonly Message[], note: string): readonly Message[] {
  return messages.some((message) => imagesOf(message).length > 0)
    ? replaceImages(messages, () => toNote(note))
    : messages;
}

function hasAudio(message: Message): boolean {
  return message.role === 'tool' && message.audio !== undefined;
}

/** Omits audio: the text of a result refers to it. Returns the same array if there is no audio. */
function withoutAudio(messages: readonly Message[]): readonly Message[] {
  if (!messages.some(hasAudio)) return messages;
  return messages.map((message) => {
    if (message.role !== 'tool') return message;
    const { audio: _audio, ...rest } = message;
    return rest;
  });
}

/** The images of a message. */
export function imagesOf(message: Message): readonly ImagePart[] {
  if (message.role === 'tool') return message.images ?? [];
  if (message.role !== 'user' || typeof message.content === 'string') return [];
  return message.content.filter((part) => part.type === 'image');
}

function fitImage(part: ImagePart, capabilities: ModelCapabilities): ContentPart {
  if (!capabilities.vision) return toNote(UNSEEN);
  const image = parsed(part);
  if (typeof image === 'string') return toNote(`An image that cannot be read: ${image}`);
  if (!canRead(image, capabilities)) return toNote(UNSEEN);
  const excess = imageExcess(image, capabilities.imageLimits);
  if (excess !== null) return toNote(`An image that is not shown: ${excess}`);
  return image.url === part.url ? part : { ...part, url: image.url };
}

/** Maximum number of images in a request with these images. */
function roomFor(images: readonly (ParsedImage | string)[], { maxCount = Infinity, crowd }: ImageLimits = {}): number {
  if (!crowd || images.length <= crowd.above) return maxCount;
  const isLarge = images.some((image) => typeof image !== 'string' && imageExcess(image, crowd) !== null);
  return isLarge ? Math.min(maxCount, crowd.above) : maxCount;
}

/** Cache of parsed images: each model call of a run sends the images of its history again. */
const known = new WeakMap<ImagePart, ParsedImage | string>();

function parsed(part: ImagePart): ParsedImage | string {
  let image = known.get(part);
  if (image === undefined) known.set(part, (image = parseImage(part.url)));
  return image;
}

function replaceImages(messages: readonly Message[], replace: (part: ImagePart) => ContentPart): Message[] {
  return messages.map((message) => {
    const images = imagesOf(message);
    if (images.every((part) => replace(part) === part)) return message;
    if (message.role === 'tool') {
      const { images: _before, content, ...rest } = message;
      const parts = images.map(replace);
      const retained = parts.filter((part) => part.type === 'image');
      const notes = parts.flatMap((part) => (part.type === 'text' ? [part.text] : []));
      return { ...rest, content: [content, ...notes].join('\n'), ...(retained.length > 0 && { images: retained }) };
    }
    if (message.role !== 'user' || typeof message.content === 'string') return message;
    return { ...message, content: message.content.map((part) => (part.type === 'image' ? replace(part) : part)) };
  });
}

const UNSEEN = 'An image that this model cannot see';
const TOO_MANY = 'An image that is not shown: later images take all places of the request';

function toNote(text: string): ContentPart {
  return { type: 'text', text: `[${text}]` };
}
