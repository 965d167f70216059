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

/** Text between tags. (Of many signs a pattern is replaced in half the time that a text takes.) Line breaks at its edges are spelled out, as a reader drops one there. */
export function escapeText(text: string): string {
  const escaped = text.replaceAll(/&/g, '&amp;').replaceAll(/</g, '&lt;').replaceAll(/>/g, '&gt;');
  const last = escaped.at(-1);
  const isBreak = last === '\n' || last === '\r';
  return (isBreak ? escaped.slice(0, -1) + ESCAPED[last] : escaped).replace(/^[\r\n]/, (sign) => ESCAPED[sign]!);
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
