/** A picture as it was given. */
export type ParsedImage =
  | { readonly kind: 'url'; readonly url: string }
  | {
      readonly kind: 'data';
      /** `image/png`, `image/jpeg`, `image/gif` or `image/webp`: what every provider reads. */
      readonly mediaType: string;
      /** Base64. */
      readonly data: string;
      /** Of the picture itself. */
      readonly bytes: number;
    };

/** As many as every provider takes in one request. */
export const MAX_IMAGES = 20;

const DATA = /^data:(image\/(?:png|jpeg|gif|webp));base64,/;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;
const MAX_URL = 2048;

/** Reads the address of a picture: an https URL, or a data URI. Gives in words what is wrong with another. */
export function parseImage(url: string): ParsedImage | string {
  if (!/^data:/i.test(url)) return parseUrl(url);
  const [head, mediaType] = DATA.exec(url) ?? [];
  if (head === undefined || mediaType === undefined) {
    return 'it must begin with data:image/png;base64, or the same with jpeg, gif or webp';
  }
  const data = url.slice(head.length);
  if (data.length % 4 !== 0 || !BASE64.test(data)) return 'it must be whole base64 behind its comma';
  return { kind: 'data', mediaType, data, bytes: base64Bytes(data, 0) };
}

/** The bytes of a picture that is data; 0 for one that is elsewhere. @param url one that `parseImage` takes */
export function imageBytes(url: string): number {
  return url.startsWith('data:') ? base64Bytes(url, url.indexOf(',') + 1) : 0;
}

/** @param from where the base64 begins */
function base64Bytes(text: string, from: number): number {
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
  return ((text.length - from) / 4) * 3 - padding;
}

function parseUrl(text: string): ParsedImage | string {
  const url = URL.parse(text);
  if (url?.protocol !== 'https:') return 'it must be an https:// URL, or a data URI';
  if (url.username !== '' || url.password !== '') return 'it must have no user and no password in it';
  return text.length > MAX_URL ? `it must be ${MAX_URL} characters at most` : { kind: 'url', url: text };
}
