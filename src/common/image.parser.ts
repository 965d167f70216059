/** An image reference. */
export type ParsedImage =
  | { readonly kind: 'url'; readonly url: string }
  | {
      readonly kind: 'data';
      /** `image/png`, `image/jpeg`, `image/gif` or `image/webp`, which every provider supports. */
      readonly mediaType: string;
      /** Base64. */
      readonly data: string;
      /** Size of the image itself. */
      readonly bytes: number;
    };

/** Maximum number of images that every provider accepts in one request. */
export const MAX_IMAGES = 20;

const DATA = /^data:(image\/(?:png|jpeg|gif|webp));base64,/;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;
const MAX_URL = 2048;

/** Parses an image reference: an https URL or a data URI. Returns an error text for other values. */
export function parseImage(url: string): ParsedImage | string {
  if (!/^data:/i.test(url)) return parseUrl(url);
  const [head, mediaType] = DATA.exec(url) ?? [];
  if (head === undefined || mediaType === undefined) {
    return 'it must start with data:image/png;base64, (or jpeg, gif, webp)';
  }
  const data = url.slice(head.length);
  if (data.length % 4 !== 0 || !BASE64.test(data)) return 'it must have complete base64 after the comma';
  return { kind: 'data', mediaType, data, bytes: base64Bytes(data, 0) };
}

/** Size of an image in a data URI, in bytes; 0 for a URL. @param url accepted by `parseImage` */
export function imageBytes(url: string): number {
  return url.startsWith('data:') ? base64Bytes(url, url.indexOf(',') + 1) : 0;
}

/** @param from start index of the base64 text */
function base64Bytes(text: string, from: number): number {
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
  return ((text.length - from) / 4) * 3 - padding;
}

function parseUrl(text: string): ParsedImage | string {
  const url = URL.parse(text);
  if (url?.protocol !== 'https:') return 'it must be an https:// URL, or a data URI';
  if (url.username !== '' || url.password !== '') return 'it must not contain a user or password';
  return text.length > MAX_URL ? `it must have at most ${MAX_URL} characters` : { kind: 'url', url: text };
}
