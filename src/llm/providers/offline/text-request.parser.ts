import { withoutTrailing } from '../../../kernel/json/index.js';
import { maskQuotations } from './quoted-text.parser.js';

/** Input of the text tool. */
export type TextRequest = Readonly<Record<'operation' | 'text', string>> & {
  readonly search?: string;
  readonly replacement?: string;
  readonly count?: number;
};
type Argument = 'text' | 'search' | 'replacement' | 'count';

/** Patterns of operations. A vague one requires a clear frame around the text. */
const OPERATIONS: readonly { readonly operation: string; readonly words: RegExp; readonly isVague?: true }[] = [
  { operation: 'title', words: /\btitle[- ]?case\b|\bcapitali[sz]e\b|首字母大写|标题格式/i },
  { operation: 'upper', words: /\bupper[- ]?case\b|\bcapital letters\b|大写/i },
  { operation: 'lower', words: /\blower[- ]?case\b|\bsmall letters\b|小写/i },
  { operation: 'reverse', words: /\breversed?\b|\bbackwards?\b|反转|颠倒|倒序|[倒反]过来/i },
  {
    operation: 'count_words',
    words: /\b(?:how many|count(?: the)?|number of) words\b|\bword count\b|[多几][少个]个?单?词|单?词数/i,
  },
  {
    operation: 'length',
    words:
      /\b(?:how many|count(?: the)?|number of) (?:characters|letters)\b|\bcharacter count\b|[多几][少个]个?(?:字符|字母|字)|字符?数/i,
  },
  { operation: 'length', words: /\blength\b|\bhow long is\b|长度/i, isVague: true },
  { operation: 'trim', words: /\btrim\b|(?:去[掉除]?)?(?:首尾|两端|两边|前后)的?空格/i },
];
const QUOTATION = /[\ue000-\ue0ff]/g;
const NOUN = '(?:(?:the|this) )?(?:word|text|string|phrase|sentence)';

interface Frame {
  /** The side of the operation's pattern on which the text is. */
  readonly side: 'before' | 'after';
  readonly pattern: RegExp;
  /** Whether it is sufficient after a vague pattern. */
  readonly isClear?: true;
  /** Whether the other side must contain nothing but polite words. */
  readonly isAlone?: true;
}
const POLITENESS = /^(?:please|(?:can|could) you(?: please)?|请|请?帮我)?$/i;

/** Sentence frames of a text without quotation marks. */
const FRAMES: readonly Frame[] = [
  {
    side: 'before',
    pattern: /\b(?:convert|change|make|turn|put|transform|write) (.+?)(?: (?:in|to|into))?(?: all)?$/i,
  },
  {
    side: 'before',
    pattern: /[把将]\s*(.+?)\s*(?:全部|都)?(?:(?:变|转|改|写|转换)[成为])?$/,
  },
  { side: 'after', pattern: new RegExp(`^(?:are )?(?:there )?(?:(?:of|in|for) )?${NOUN} (.+)$`, 'i'), isClear: true },
  {
    side: 'after',
    pattern: /^(?:are )?(?:there )?(?:of|in|for) (?!(?:the|an?|my|your|this|that|english|chinese)\b)(.+)$/i,
  },
  { side: 'after', pattern: /^(?:一下)?\s*[:：]\s*(.+)$/ },
  { side: 'after', pattern: /^(?:一下\s*)?(?!(?:it|this|that|them)$)([^\s\p{Script=Han}]+)$/iu, isAlone: true },
  { side: 'before', pattern: /^(?:请\s*)?([^\s\p{Script=Han}]+)\s*(?:变|转换?|改)[成为]?$/u },
  {
    side: 'before',
    pattern:
      /^(?:请问|请|统计|计算|数一?数|把)?\s*([!-~][ -~]*?)\s*(?:这个[单字]?词|里面?|中)?(?:一?共|总共)?[的有是]$/,
    isClear: true,
  },
  { side: 'before', pattern: /^(?:what(?:'s| is) )?(\S+)(?: in)?$/i, isAlone: true },
];

/** Operations with further arguments. */
const WITH_MORE: readonly { operation: string; pattern: RegExp; order: readonly Argument[] }[] = [
  {
    operation: 'replace',
    pattern: /\breplace (?:all |every )?(\S+) (?:with|by) (\S+) in (\S+)$/i,
    order: ['search', 'replacement', 'text'],
  },
  {
    operation: 'replace',
    pattern: /\bin (\S+),? replace (?:all |every )?(\S+) (?:with|by) (\S+)$/i,
    order: ['text', 'search', 'replacement'],
  },
  {
    operation: 'replace',
    pattern: /[把将]\s*(\S+?)\s*[里中]面?的?\s*(\S+?)\s*(?:都|全部)?(?:替换|换|改)[成为]\s*(\S+)$/,
    order: ['text', 'search', 'replacement'],
  },
  {
    operation: 'contains',
    pattern:
      /([\ue000-\ue0ff])\s*[里中]?面?\s*(?:contains?|includes?|有没有|(?:是否|包不)?(?:包含|含有?))\s*([\ue000-\ue0ff])/i,
    order: ['text', 'search'],
  },
  { operation: 'repeat', pattern: /\brepeat (\S+) (\d{1,6}) times$/i, order: ['text', 'count'] },
  { operation: 'repeat', pattern: /([\ue000-\ue0ff])\s*重复\s*(\d{1,6})\s*[次遍]$/, order: ['text', 'count'] },
  { operation: 'repeat', pattern: /重复\s*([\ue000-\ue0ff])\s*(\d{1,6})\s*[次遍]$/, order: ['text', 'count'] },
];

/** Finds a request for a text operation, in English or Chinese. */
export function findTextRequest(question: string): TextRequest | undefined {
  const { masked, unmask } = maskQuotations(withoutTrailing(question.trim(), ' \t\n\r\u00a0\u3000?？!！.。'));
  const found = withMore(masked) ?? withText(masked);
  if (!found) return undefined;
  const filled = Object.entries(found).map(([key, part]) => [key, key === 'count' ? Number(part) : unmask(part)]);
  return Object.fromEntries(filled) as TextRequest;
}

function withMore(masked: string): Record<string, string> | undefined {
  for (const { operation, pattern, order } of WITH_MORE) {
    const match = pattern.exec(masked);
    if (!match) continue;
    return { operation, ...Object.fromEntries(order.map((key, i) => [key, match[i + 1] ?? ''])) };
  }
  return undefined;
}

function withText(masked: string): Record<string, string> | undefined {
  const quotations = masked.match(QUOTATION) ?? [];
  // With several quotations, the target is ambiguous.
  if (quotations.length > 1) return undefined;
  for (const { operation, words, isVague } of OPERATIONS) {
    const match = words.exec(masked);
    if (!match) continue;
    const sides = {
      before: masked.slice(0, match.index).trim(),
      after: masked.slice(match.index + match[0].length).trim(),
    };
    const text = quotations.length > 0 ? quotations[0] : inFrame(sides, isVague === true);
    if (text !== undefined) return { operation, text };
  }
  return undefined;
}

function inFrame(sides: Readonly<Record<Frame['side'], string>>, mustBeClear: boolean): string | undefined {
  for (const { side, pattern, isClear, isAlone } of FRAMES) {
    if (mustBeClear && !isClear) continue;
    if (isAlone && !POLITENESS.test(sides[side === 'before' ? 'after' : 'before'])) continue;
    const text = pattern.exec(sides[side])?.[1];
    if (text !== undefined) return text;
  }
  return undefined;
}
