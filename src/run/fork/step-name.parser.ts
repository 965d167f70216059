/** The position of a step in its run, parsed from its name. */
export interface StepPlace {
  readonly kind: string;
  /** The subject of an answer or a value: `approval`, `input`, `settle`, `window`, `compact`; else empty. */
  readonly word: string;
  /** The iteration of the loop, counted from 1; 0 before the first, infinite for a name without a position. */
  readonly iteration: number;
  /** The call in that iteration, counted from 1; 0 for the iteration itself. */
  readonly call: number;
  /** The call of the script that this call is, counted from 1; 0 for the call itself. */
  readonly inner: number;
  /** `r<n>` at the end of the name; 0 without it. */
  readonly retry: number;
}

/**
 * Parses a name such as `model:2:r1`, `tool:2:1`, `answer:settle:2:1:r2`, `tool:2:1.3` (the third call of a script) or
 * `value:window`; accepts any text.
 */
export function parseStepName(name: string): StepPlace {
  const [kind = '', ...parts] = name.split(':');
  const numbers = parts.filter((part) => /^\d{1,9}(\.\d{1,9})?$/.test(part));
  const retry = Number(/^r(\d{1,9})/.exec(parts.at(-1) ?? '')?.[1] ?? 0);
  const word = parts.find((part) => /^[A-Za-z]/.test(part) && !/^r\d/.test(part)) ?? '';
  const [iteration = 0, call = 0, inner = 0] = numbers.slice(0, 2).flatMap((part) => part.split('.').map(Number));
  return { kind, word, iteration: hasPlace(kind, numbers) ? iteration : Infinity, call, inner, retry };
}

/** Only values precede the loop; an answer belongs to a call. */
function hasPlace(kind: string, numbers: readonly string[]): boolean {
  return kind === 'value' || numbers.length >= (kind === 'answer' ? 2 : 1);
}

/** Orders steps as the loop executes them: by iteration, the model before its calls, each call from plan to result. */
export function compareStepNames(one: string, other: string): number {
  const [a, b] = [orderOf(one), orderOf(other)];
  const at = a.findIndex((value, i) => value !== b[i]);
  if (at >= 0) return a[at]! < b[at]! ? -1 : 1;
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

/** The step of a call, and its files. */
const AFTER_ATTEMPTS: readonly string[] = ['tool', 'file'];

function orderOf(name: string): readonly number[] {
  const place = parseStepName(name);
  const { iteration, call, inner, kind, retry } = place;
  const end = AFTER_ATTEMPTS.indexOf(kind);
  // The calls of a script precede its end.
  const stage = inner > 0 || (kind === 'value' && place.word === SCRIPT) ? -1 : end;
  return [iteration, call, stage, inner, end, retry, rankOf(place)];
}

/** One attempt of a tool call and its step kinds, in order. */
const ATTEMPT = [
  'policy:',
  'value:approval',
  'answer:approval',
  'claim:',
  'note:',
  'suspend:',
  'answer:input',
  'value:settle',
  'answer:settle',
] as const;

/** The record of a script's start: its tools. */
export const SCRIPT = 'script';

/** A compaction is a part of the model call for which it was made. */
export const COMPACTION = 'compact';

function rankOf({ kind, word, call }: StepPlace): number {
  if (call === 0) return kind === 'value' && word !== COMPACTION ? 0 : 1;
  const at = ATTEMPT.findIndex((step) => step === `${kind}:${word}`);
  return at < 0 ? ATTEMPT.length : at;
}
