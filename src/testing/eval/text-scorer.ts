import { AppError } from '../../errors/index.js';
import { canonicalJson } from '../../kernel/json/index.js';
import type { EvalAnswer, Score, Scorer } from './eval.types.js';

/** Members of every scorer of ours. */
export interface CommonOptions {
  /** Default: the type of the scorer. */
  readonly name?: string;
  readonly passAt?: number;
  readonly isTracked?: boolean;
}

/** How texts are compared. Unicode is always normalised (NFC), white space at the ends ignored. */
export interface TextOptions {
  /** Each run of white space equals one space. */
  readonly ignoreSpace?: boolean;
  readonly ignoreCase?: boolean;
}

/** The members of a scorer from its options. */
export function common(
  type: string,
  { name = type, passAt, isTracked }: CommonOptions,
  score: Scorer['score'],
): Scorer {
  return { name, ...(passAt !== undefined && { passAt }), ...(isTracked !== undefined && { isTracked }), score };
}

export const yes = (reason: string): Score => ({ score: 1, reason });
export const no = (reason: string): Score => ({ score: 0, reason });

/** The expected value of a line. @throws AppError `VALIDATION_FAILED` if the line has none */
export function expectedOf(line: { readonly id: string; readonly expected?: unknown }, scorer: string): unknown {
  if (line.expected !== undefined) return line.expected;
  throw new AppError('VALIDATION_FAILED', `Line "${line.id}" has no "expected", which the scorer "${scorer}" needs.`);
}

/** The answer as a value: its output, or its text as JSON, also in a code block. @returns undefined for other texts */
export function valueOf({ output, text }: EvalAnswer): unknown {
  if (output !== undefined) return output;
  try {
    return JSON.parse(/^\s*```(?:json)?\n(.*)```\s*$/s.exec(text)?.[1] ?? text) as unknown;
  } catch {
    return undefined;
  }
}

/** A value for a reason. */
export function shown(value: unknown): string {
  const text =
    JSON.stringify(value, (_key, one: Partial<{ toAsymmetricMatcher: () => string }> | null) =>
      typeof one?.toAsymmetricMatcher === 'function' ? one.toAsymmetricMatcher() : one,
    ) ?? 'nothing';
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}

/** The answer equals `expected`: as texts, or as JSON if `expected` is no text. */
export function exact(options: CommonOptions & TextOptions = {}): Scorer {
  return common('exact', options, ({ line, answer }) => {
    const expected = expectedOf(line, 'exact');
    if (typeof expected !== 'string') {
      const value = valueOf(answer);
      const isEqual = value !== undefined && canonicalJson(value) === canonicalJson(expected);
      return isEqual ? yes('equal') : no(`expected ${shown(expected)}, received ${shown(value ?? answer.text)}`);
    }
    if (normal(answer.text, options) === normal(expected, options)) return yes('equal');
    return no(`expected ${shown(expected)}, received ${shown(answer.text)}`);
  });
}

/** The answer contains all texts: those of `values`, or `expected` (a text or a list). The score is their share. */
export function contains(options: CommonOptions & TextOptions & { readonly values?: readonly string[] } = {}): Scorer {
  return common('contains', options, ({ line, answer }) => {
    const wanted = [options.values ?? expectedOf(line, 'contains')].flat().map(String);
    const text = normal(answer.text, options);
    const missing = wanted.filter((one) => !text.includes(normal(one, options)));
    if (missing.length === 0) return yes(`contains ${wanted.map(shown).join(', ')}`);
    const score = 1 - missing.length / wanted.length;
    return { score, reason: `${missing.map(shown).join(', ')} missing in ${shown(answer.text)}` };
  });
}

function normal(text: string, { ignoreSpace = false, ignoreCase = false }: TextOptions): string {
  const trimmed = text.normalize('NFC').trim();
  const spaced = ignoreSpace ? trimmed.replaceAll(/\s+/gu, ' ') : trimmed;
  return ignoreCase ? spaced.toLowerCase() : spaced;
}
