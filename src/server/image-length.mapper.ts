/** Members that contain images: of our own requests, and of messages in the formats of OpenAI, AG-UI and A2A. */
const IMAGE_PLACES = new Set([
  'images',
  'messages',
  'input',
  'content',
  'image_url',
  'url',
  'source',
  'params',
  'message',
  'parts',
]);

/** Total length of a body's image data; the images are validated later. */
export function imageLength(value: unknown): number {
  if (typeof value === 'string') return value.startsWith('data:') ? value.length : 0;
  if (Array.isArray(value)) return value.reduce((sum: number, each: unknown) => sum + imageLength(each), 0);
  if (typeof value !== 'object' || value === null) return 0;
  const base64 = agUiImage(value) ?? a2aImage(value);
  if (base64 !== undefined) return base64.length;
  return Object.entries(value)
    .filter(([name]) => IMAGE_PLACES.has(name))
    .reduce((sum, [, each]) => sum + imageLength(each), 0);
}

/** The data of an image in AG-UI: `{type: 'data', mimeType, value}`, before 1.0 `{type: 'binary', mimeType, data}`. */
function agUiImage(part: object): string | undefined {
  const { type, mimeType, value, data } = part as Readonly<Record<string, unknown>>;
  if (typeof mimeType !== 'string' || !mimeType.startsWith('image/')) return undefined;
  const image = type === 'binary' ? data : type === 'data' ? value : undefined;
  return typeof image === 'string' ? image : undefined;
}

/** The data of an image in A2A: `{raw, mediaType}`. */
function a2aImage(part: object): string | undefined {
  const { raw, mediaType } = part as Readonly<Record<string, unknown>>;
  const isImage = typeof mediaType === 'string' && mediaType.startsWith('image/');
  return isImage && typeof raw === 'string' ? raw : undefined;
}
