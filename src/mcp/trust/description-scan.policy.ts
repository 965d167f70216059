import { HIDING, readable, WARNING } from './instruction-phrases.policy.js';
import type { PinnedDefinition } from './definition-difference.mapper.js';

/** A suspicious text, and its place: a JSON pointer (RFC 6901). */
export interface ScanFinding {
  readonly at: string;
  readonly what: string;
  /** Whether it hides the tool; any other finding is a warning. */
  readonly hides?: boolean;
}

/** `hide` hides definitions with hiding findings, `warn` reports all findings only, `off` scans nothing. */
export type ScanMode = 'hide' | 'warn' | 'off';

/**
 * Characters that readers do not see but models read: control, zero width, direction, tag (U+E0000 to U+E007F),
 * variation selectors that select nothing, blank fillers and private use. Line ends and tabs are visible by their effect.
 */
const INVISIBLE =
  /(?![\n\r\t]|\u200c|\u200d|[\ufe00-\ufe0f]|[\u{e0100}-\u{e01ef}])(?:[\p{Cc}\p{Co}\p{Noncharacter_Code_Point}\ufff9-\ufffb]|\p{Default_Ignorable_Code_Point})/u;
/** Selects the variant of one visible character: an emoji or a symbol, a Mongolian letter, an ideograph. */
const LOOSE_SELECTOR = /(?<![\p{Emoji}\p{S}\p{L}\p{N}\p{P}])[\ufe00-\ufe0f]|(?<!\p{Ideographic})[\u{e0100}-\u{e01ef}]/u;
/** Joins emoji, or shapes letters of scripts that use joiners. */
const LOOSE_JOINER =
  /(?<![\p{Extended_Pictographic}\p{Emoji_Modifier}\p{M}\u{1f1e6}-\u{1f1ff}]|[\p{sc=Arab}\p{sc=Syrc}\p{sc=Mong}\p{sc=Deva}\p{sc=Beng}\p{sc=Gujr}\p{sc=Guru}\p{sc=Knda}\p{sc=Mlym}\p{sc=Orya}\p{sc=Sinh}\p{sc=Taml}\p{sc=Telu}\p{sc=Khmr}])[\u200c\u200d]|[\u200c\u200d](?![\p{Extended_Pictographic}\p{L}\p{M}\u2640\u2642\u2695])/u;
const TAGS = /[\u{e0000}-\u{e007f}]/u;
/** The flags of England, Scotland and Wales are a black flag and tags. */
const FLAG_TAGS = /\u{1f3f4}(?:\u{e0067}\u{e0062}[\u{e0061}-\u{e007a}]{3}\u{e007f})/gu;
/** Long runs of base64 characters, which can contain a text. */
const ENCODED = /[A-Za-z0-9+/]{200,}={0,2}/u;
const MAX_FINDINGS = 20;

/** Scans every text of a tool's definition, including the names of arguments. Finds nothing if the mode is `off`. */
export function scanDefinition(definition: PinnedDefinition, mode: ScanMode): readonly ScanFinding[] {
  if (mode === 'off') return [];
  const findings: ScanFinding[] = [];
  walk(definition, '', (text, at) => {
    const found = findingOf(text);
    if (!found) return;
    const hides = mode === 'hide' && found.hides;
    const finding = { at, what: found.what, ...(hides && { hides }) };
    // A hiding finding is never lost behind many warnings.
    if (findings.length < MAX_FINDINGS) findings.push(finding);
    else if (hides && !findings.some((one) => one.hides)) findings[MAX_FINDINGS - 1] = finding;
  });
  return findings;
}

function walk(value: unknown, at: string, visit: (text: string, at: string) => void): void {
  if (typeof value === 'string') return visit(value, at === '' ? '/' : at);
  if (typeof value !== 'object' || value === null) return;
  for (const [key, member] of Object.entries(value)) {
    const place = `${at}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    // A name of several words is a text too.
    if (!Array.isArray(value)) visit(key.replaceAll('_', ' '), place);
    walk(member, place, visit);
  }
}

function findingOf(given: string): { readonly what: string; readonly hides: boolean } | undefined {
  const text = given.replace(FLAG_TAGS, '');
  if (TAGS.test(text)) return { what: 'contains characters that only programs see (U+E0000 to U+E007F)', hides: true };
  const invisible = INVISIBLE.exec(text) ?? LOOSE_SELECTOR.exec(text) ?? LOOSE_JOINER.exec(text);
  if (invisible) return { what: `contains an invisible character (U+${codeOf(invisible[0])})`, hides: true };
  const read = readable(text);
  const flat = read.replace(/[\s_]+/gu, ' ');
  const matches = (pattern: RegExp): boolean => pattern.test(flat) || pattern.test(read);
  const hiding = HIDING.find(([pattern]) => matches(pattern));
  if (hiding) return { what: hiding[1], hides: true };
  const warning = WARNING.find(([pattern]) => matches(pattern));
  if (warning) return { what: warning[1], hides: false };
  return ENCODED.test(text) ? { what: 'contains a long encoded text', hides: false } : undefined;
}

function codeOf(character: string): string {
  return character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0');
}
