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
/** By their codes: those that no text between tags may have. */
const SPELLED: (string | undefined)[] = Array.from({ length: 64 }, (_, code) =>
  '<>&'.includes(String.fromCharCode(code)) ? ESCAPED[String.fromCharCode(code)] : undefined,
);
/** In UTF-16 units: a text that is put together of many signs is sooner whole in such pieces. */
const PIECE = 4096;
const MAX_CODE_POINT = 0x10ffff;

/** Resolves the five named and the numeric entities, once; whatever else has an `&` stays. */
export function unescapeText(text: string): string {
  if (!text.includes('&')) return text;
  if (!text.includes('&#')) return unescapeNamed(text);
  return text.replace(ENTITY, (whole, decimal?: string, hex?: string, name?: string) => {
    if (name !== undefined) return NAMED[name]!;
    const code = decimal === undefined ? Number.parseInt(hex!, 16) : Number(decimal);
    return code > MAX_CODE_POINT ? whole : String.fromCodePoint(code);
  });
}

/** `&amp;` last: what comes of it is not looked at again. */
function unescapeNamed(text: string): string {
  const signs = text
    .replaceAll(/&lt;/g, '<')
    .replaceAll(/&gt;/g, '>')
    .replaceAll(/&quot;/g, '"');
  return signs.replaceAll(/&apos;/g, "'").replaceAll(/&amp;/g, '&');
}

/** Text between tags. Line breaks at its edges are spelled out, as a reader drops one there. */
export function escapeText(text: string): string {
  const escaped = /[&<>]/.test(text) ? escapeSigns(text) : text;
  const last = escaped.at(-1);
  const isBreak = last === '\n' || last === '\r';
  return (isBreak ? escaped.slice(0, -1) + ESCAPED[last] : escaped).replace(/^[\r\n]/, (sign) => ESCAPED[sign]!);
}

/** Of many signs a loop replaces each in half the time that a pattern takes. */
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

/** A superset of what the reader takes for a tag of the protocol, whatever its case, space or prefix. */
const MARKUP = /<(?=[\s/]{0,12}[^\s<>]{0,40}?(?:func|invoke|param|result|tool|arg[_-]?(?:key|value)))/gi;

/** Text that is data: what could be read as the protocol's markup is spelled out, all else stays as it is. */
export function escapeMarkup(text: string): string {
  return text.includes('<') ? text.replace(MARKUP, '&lt;') : text;
}
