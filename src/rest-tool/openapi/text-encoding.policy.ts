import { unwritable, wholeText } from '../argument-text.mapper.js';
import { encodeSegment } from '../url-template.parser.js';
import type { Encode } from './parameter-style.mapper.js';

/**
 * Reserved characters that a query may contain as they are. OpenAPI 3.2 leaves out `#`, `[` and `]`, which a query cannot
 * contain, and `&` and `+`, which mean something else in it.
 */
const IN_QUERY = /%(?:3A|2F|3F|40|21|24|27|28|29|2A|2C|3B|3D)/g;
/** The same for a path; `/`, `?` and `#` would change its structure. */
const IN_PATH = /%(?:3A|40|21|24|26|27|28|29|2A|2B|2C|3B|3D)/g;

/** Percent-encodes a text of a query. */
export const queryText: Encode = (text, name) => encodeURIComponent(wholeText(text, name));

/** With `allowReserved`: percent-encoded triples stay as they are too. */
export const reservedQueryText: Encode = (text, name) =>
  queryText(text, name)
    .replaceAll(IN_QUERY, decodeURIComponent)
    .replaceAll(/%25([0-9A-F]{2})/gi, '%$1');

/** Percent-encodes a text of a path. @throws AppError `TOOL_INVALID_ARGUMENTS` for a text that would change the path */
export const pathText: Encode = encodeSegment;

/** With `allowReserved`. */
export const reservedPathText: Encode = (text, name) => {
  if (/[/?#]/.test(text)) throw unwritable(`an argument of the URL, "${name}", contains "/", "?" or "#"`);
  return encodeSegment(text, name).replaceAll(IN_PATH, decodeURIComponent);
};

/** A text of a form (`application/x-www-form-urlencoded`). */
export const formText: Encode = (text, name) => queryText(text, name).replaceAll('%20', '+');
