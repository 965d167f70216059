import type { PinnedDefinition } from './tool-digest.factory.js';

/** What is suspicious about a text, and where it stands: a JSON pointer (RFC 6901). */
export interface ScanFinding {
  readonly at: string;
  readonly what: string;
}

/**
 * What no reader sees and a model reads: controls, formats (zero width, direction), tags (U+E0000 to U+E007F), private use
 * and unassigned characters. A joiner between emoji is one that people see.
 */
const HIDDEN = /(?!\n|\r|\t|\u200d)[\p{Cc}\p{Cf}\p{Co}\p{Cn}]/u;
const TAGS = /[\u{e0000}-\u{e007f}]/u;

/** What describes no tool but tells the model what to do, as seen in tool poisoning attacks. */
const INSTRUCTING: readonly (readonly [RegExp, string])[] = [
  [
    /\b(?:ignore|disregard|forget|override)\b[^.\n]{0,40}\b(?:previous|prior|above|earlier|other|all|system)\b[^.\n]{0,40}\b(?:instruction|prompt|rule|message|direction)s?\b/iu,
    'it tells the model to pass over its instructions',
  ],
  [/<\/?\s*(?:important|system|instructions?|secret|hidden|critical)\s*>/iu, 'it has markup of instructions'],
  [
    /\b(?:do not|don't|never|without)\b[^.\n]{0,30}\b(?:tell|mention|inform|reveal|telling|mentioning|informing|notify|show)\b[^.\n]{0,30}\b(?:the )?(?:user|human|person|anyone)\b/iu,
    'it wants something kept from the user',
  ],
  [
    /\b(?:before|prior to|instead of|whenever|always when|after)\b[^.\n]{0,40}\b(?:using|calling|invoking|any other|other|every) (?:this |the |any |other )?tools?\b[^.\n]{0,60}\b(?:must|read|call|send|pass|include|first)\b/iu,
    'it tells the model what to do with other tools',
  ],
  [
    /(?:~|\$home|\/home\/[^\s/]+|\/root)?\/?\.(?:ssh|aws|gnupg|env|netrc|npmrc|cursor)\b|\bid_rsa\b|\/etc\/(?:passwd|shadow)/iu,
    'it speaks of files that hold secrets',
  ],
  [/\b(?:system prompt|developer message|jailbreak)\b/iu, 'it speaks of the system prompt'],
];
/** Longer runs of what looks like base64 carry what nobody reads. */
const ENCODED = /[A-Za-z0-9+/]{200,}={0,2}/u;
const MAX_FINDINGS = 20;

/** Looks at every text of a tool's definition, names of arguments among them. */
export function scanDefinition(definition: PinnedDefinition): readonly ScanFinding[] {
  const findings: ScanFinding[] = [];
  walk(definition, '', (text, at) => {
    const what = faultOf(text);
    if (what !== undefined && findings.length < MAX_FINDINGS) findings.push({ at, what });
  });
  return findings;
}

function walk(value: unknown, at: string, look: (text: string, at: string) => void): void {
  if (typeof value === 'string') return look(value, at === '' ? '/' : at);
  if (typeof value !== 'object' || value === null) return;
  for (const [key, member] of Object.entries(value)) {
    const place = `${at}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    if (!Array.isArray(value)) look(key, place);
    walk(member, place, look);
  }
}

function faultOf(text: string): string | undefined {
  if (TAGS.test(text)) return 'it has characters that only programs see (U+E0000 to U+E007F)';
  const hidden = HIDDEN.exec(text);
  if (hidden)
    return `it has a character that nobody sees (U+${hidden[0].codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')})`;
  const instructing = INSTRUCTING.find(([pattern]) => pattern.test(text));
  if (instructing) return instructing[1];
  return ENCODED.test(text) ? 'it has a long text that nobody can read' : undefined;
}
