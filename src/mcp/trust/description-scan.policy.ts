import type { PinnedDefinition } from './tool-digest.factory.js';

/** A suspicious text, and its place: a JSON pointer (RFC 6901). */
export interface ScanFinding {
  readonly at: string;
  readonly what: string;
}

/**
 * Characters that readers do not see but models read: control, format (zero width, direction), tag (U+E0000 to
 * U+E007F), private use and unassigned characters. A joiner between emoji is allowed, because its effect is visible.
 */
const HIDDEN = /(?!\n|\r|\t|\u200d)[\p{Cc}\p{Cf}\p{Co}\p{Cn}]/u;
const TAGS = /[\u{e0000}-\u{e007f}]/u;

/** Texts that do not describe a tool but instruct the model, as in tool poisoning attacks. */
const INSTRUCTING: readonly (readonly [RegExp, string])[] = [
  [
    /\b(?:ignore|disregard|forget|override)\b[^.\n]{0,40}\b(?:previous|prior|above|earlier|other|all|system)\b[^.\n]{0,40}\b(?:instruction|prompt|rule|message|direction)s?\b/iu,
    'instructs the model to ignore its instructions',
  ],
  [/<\/?\s*(?:important|system|instructions?|secret|hidden|critical)\s*>/iu, 'contains markup of instructions'],
  [
    /\b(?:do not|don't|never|without)\b[^.\n]{0,30}\b(?:tell|mention|inform|reveal|telling|mentioning|informing|notify|show)\b[^.\n]{0,30}\b(?:the )?(?:user|human|person|anyone)\b/iu,
    'asks to hide something from the user',
  ],
  [
    /\b(?:before|prior to|instead of|whenever|always when|after)\b[^.\n]{0,40}\b(?:using|calling|invoking|any other|other|every) (?:this |the |any |other )?tools?\b[^.\n]{0,60}\b(?:must|read|call|send|pass|include|first)\b/iu,
    'instructs the model about other tools',
  ],
  [
    /(?:~|\$home|\/home\/[^\s/]+|\/root)?\/?\.(?:ssh|aws|gnupg|env|netrc|npmrc|cursor)\b|\bid_rsa\b|\/etc\/(?:passwd|shadow)/iu,
    'mentions files that contain secrets',
  ],
  [/\b(?:system prompt|developer message|jailbreak)\b/iu, 'mentions the system prompt'],
];
/** Long runs of base64 characters, which can hide a text. */
const ENCODED = /[A-Za-z0-9+/]{200,}={0,2}/u;
const MAX_FINDINGS = 20;

/** Scans every text of a tool's definition, including the names of arguments. */
export function scanDefinition(definition: PinnedDefinition): readonly ScanFinding[] {
  const findings: ScanFinding[] = [];
  walk(definition, '', (text, at) => {
    const what = faultOf(text);
    if (what !== undefined && findings.length < MAX_FINDINGS) findings.push({ at, what });
  });
  return findings;
}

function walk(value: unknown, at: string, visit: (text: string, at: string) => void): void {
  if (typeof value === 'string') return visit(value, at === '' ? '/' : at);
  if (typeof value !== 'object' || value === null) return;
  for (const [key, member] of Object.entries(value)) {
    const place = `${at}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    if (!Array.isArray(value)) visit(key, place);
    walk(member, place, visit);
  }
}

function faultOf(text: string): string | undefined {
  if (TAGS.test(text)) return 'contains characters that only programs see (U+E0000 to U+E007F)';
  const hidden = HIDDEN.exec(text);
  if (hidden)
    return `contains an invisible character (U+${hidden[0].codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')})`;
  const instructing = INSTRUCTING.find(([pattern]) => pattern.test(text));
  if (instructing) return instructing[1];
  return ENCODED.test(text) ? 'contains a long encoded text' : undefined;
}
