const QUOTED = /"([^"]*)"|“([^”]*)”|「([^」]*)」|『([^』]*)』|`([^`]*)`|(?<!\w)'([^']*)'(?!\w)|‘([^’]*)’/g;
/** First of the private-use characters that mask quotations, one per quotation. */
const FIRST_MASK = 0xe000;
const MAX_MASKS = 256;
const MASK = /[\ue000-\ue0ff]/g;

export interface MaskedText {
  /** The text with one character per quotation, so that no rule matches inside a quotation. */
  readonly masked: string;
  /** Restores the quotations in a part, without their marks. */
  readonly unmask: (part: string) => string;
  /** Restores them with their marks. */
  readonly restore: (part: string) => string;
}

export function maskQuotations(text: string): MaskedText {
  const quoted: { readonly all: string; readonly inner: string }[] = [];
  const masked = text.replace(MASK, '').replace(QUOTED, (all: string, ...groups: unknown[]) => {
    if (quoted.length === MAX_MASKS) return all;
    const inner = groups.find((group) => typeof group === 'string') as string;
    return String.fromCharCode(FIRST_MASK + quoted.push({ all, inner }) - 1);
  });
  const back = (part: string, form: 'all' | 'inner') =>
    part.replace(MASK, (mask) => quoted[mask.charCodeAt(0) - FIRST_MASK]?.[form] ?? '');
  return { masked, unmask: (part) => back(part, 'inner'), restore: (part) => back(part, 'all') };
}
