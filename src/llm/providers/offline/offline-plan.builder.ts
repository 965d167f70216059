import { OFFLINE_RULES } from './offline-rules.registry.js';
import type { OfflineAnswer, OfflineCall, OfflineQuestion } from './offline-rule.types.js';
import { beyondMeans } from './offline-text.mapper.js';
import { maskQuotations } from './quoted-text.parser.js';

/** Maximum length of a request, in UTF-16 units; the rules do not apply to longer texts. */
const MAX_LENGTH = 2_000;
/** Separators of requests. The next part must not continue the previous one. */
const BETWEEN =
  /(?:\band\b(?! (?:then|times|plus|minus|divided|multiplied)\b)|,(?!\d{3})|[，;；、?？\n]|和|以及|还有|并且)/i;

/** Plans the reply to a question; deterministic. */
export function planFor(question: OfflineQuestion): OfflineAnswer {
  const beyond: OfflineAnswer = { kind: 'say', text: beyondMeans(question) };
  if (question.text.length > MAX_LENGTH) return beyond;
  return inParts(question) ?? askRules(question) ?? beyond;
}

/** Splits a question into several requests, if each part is a request itself. */
function inParts(question: OfflineQuestion): OfflineAnswer | undefined {
  const { masked, restore } = maskQuotations(question.text);
  const parts = masked.split(BETWEEN).filter((part) => part.trim() !== '');
  if (parts.length < 2) return undefined;
  const calls: OfflineCall[] = [];
  const { previous, ...context } = question;
  for (const [i, part] of parts.entries()) {
    const answer = askRules({ ...context, text: restore(part).trim(), ...(i === 0 && previous && { previous }) });
    if (answer?.kind !== 'call') return undefined;
    calls.push(...answer.calls);
  }
  return { kind: 'call', calls };
}

function askRules(question: OfflineQuestion): OfflineAnswer | undefined {
  for (const rule of OFFLINE_RULES) {
    const answer = rule(question);
    if (answer) return answer;
  }
  return undefined;
}
