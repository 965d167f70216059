const ENTITY = /&(?:#(\d{1,7})|#[xX]([0-9a-fA-F]{1,6})|(lt|gt|amp|quot|apos));/g;
const NAMED: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" };
const ESCAPED: Readonly<Record<string, string>> = {
  '<': '&lt;',
  '>': '&gt;',
  '&': '&amp;',
  '"': '&quot;',
  '\n': '&#10;',
  '\r': '&#13;',
};
/** Escapes by character code, for the characters that text between tags must not contain. */
const SPELLED: (string | undefined)[] = Array.from({ length: 64 }, (_, code) =>
  '<>&'.includes(String.fromCharCode(code)) ? ESCAPED[String.fromCharCode(code)] : undefined,
);
/** In UTF-16 units: joining pieces of this length is faster than appending many short strings. */
const PIECE = 4096;
const MAX_CODE_POINT = 0x10ffff;

/** Decodes the five named entities and numeric ones, once; other text with an `&` stays unchanged. */
export function unescapeText(text: string): string {
  if (!text.includes('&')) return text;
  if (!text.includes('&#')) return unescapeNamed(text);
  return text.replace(ENTITY, (whole, decimal?: string, hex?: string, name?: string) => {
    if (name !== undefined) return NAMED[name]!;
    const code = decimal === undefined ? Number.parseInt(hex!, 16) : Number(decimal);
    return code > MAX_CODE_POINT ? whole : String.fromCodePoint(code);
  });
}

/** `&amp;` comes last, so that its result is not decoded again. */
function unescapeNamed(text: string): string {
  const signs = text
    .replaceAll(/&lt;/g, '<')
    .replaceAll(/&gt;/g, '>')
    .replaceAll(/&quot;/g, '"');
  return signs.replaceAll(/&apos;/g, "'").replaceAll(/&amp;/g, '&');
}

/** Escapes text between tags. Line breaks at its edges become entities, since a reader drops them there. */
export function escapeText(text: string): string {
  const escaped = /[&<>]/.test(text) ? escapeSigns(text) : text;
  const last = escaped.at(-1);
  const isBreak = last === '\n' || last === '\r';
  return (isBreak ? escaped.slice(0, -1) + ESCAPED[last] : escaped).replace(/^[\r\n]/, (sign) => ESCAPED[sign]!);
}

/** For many characters a loop takes half the time of a pattern. */
function escapeSigns(text: string): string {
  const pieces: string[] = [];
  let piece = '';
  let from = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    const sign = SPELLED[code];
    if (sign === undefined) continue;
    if (from < at) piece += text.slice(from, at);
    from = at + 1;
    while (text.charCodeAt(from) === code) from++;
    piece += from - at === 1 ? sign : sign.repeat(from - at);
    at = from - 1;
    if (piece.length < PIECE) continue;
    pieces.push(piece);
    piece = '';
  }
  pieces.push(piece, text.slice(from));
  return pieces.join('');
}

export function escapeAttribute(text: string): string {
  return text.replace(/[<>&"\r\n]/g, (sign) => ESCAPED[sign]!);
}

/** A superset of the parser's tags of the protocol, with any case, space or prefix. */
const MARKUP = /<(?=[\s/]{0,12}[^\s<>]{0,40}?(?:func|invoke|param|result|tool|arg[_-]?(?:key|value)))/gi;

/** Escapes possible markup of the protocol in text that is data; other text stays unchanged. */
export function escapeMarkup(text: string): string {
  return text.includes('<') ? text.replace(MARKUP, '&lt;') : text;
}
