/** A token of RFC 9110, 5.6.2. */
const NAME = /^[!#$%&'*+.^_`|~\w-]+$/;
/** Headers of the connection, and cookies. */
const RESERVED =
  /^(connection|content-encoding|content-length|cookie|expect|host|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade)$/;
/** Characters that every server accepts: printable ASCII and tabs. */
const TEXT = /^[\t\x20-\x7e]*$/;

/** `application/json`, `text/json` and types with the suffix `+json` (RFC 6839, 3.1). */
const JSON_TYPE = /^(?:application\/(?:[\w.-]+\+)?|text\/)json\s*(?:;|$)/i;

export function isHeaderName(text: string): boolean {
  return NAME.test(text);
}

/** Whether a tool cannot set a header. @param name in lower case */
export function isReservedHeader(name: string): boolean {
  return RESERVED.test(name);
}

/** Whether a header can contain a text. */
export function isHeaderText(text: string): boolean {
  return TEXT.test(text);
}

/** Whether a media type is JSON, with or without parameters. */
export function isJsonType(contentType: string): boolean {
  return JSON_TYPE.test(contentType);
}
