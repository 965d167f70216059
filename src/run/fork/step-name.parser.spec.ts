import { describe, expect, it } from 'vitest';
import * as fc from 'fast-check';
import { compareStepNames, parseStepName } from './step-name.parser.js';

describe('the name of a step', () => {
  it.each([
    ['value:window', { iteration: 0, call: 0, inner: 0, retry: 0, word: 'window' }],
    ['model:2', { iteration: 2, call: 0, inner: 0, retry: 0, word: '' }],
    ['model:2:r1', { iteration: 2, call: 0, inner: 0, retry: 1, word: '' }],
    ['tool:2:1', { iteration: 2, call: 1, inner: 0, retry: 0, word: '' }],
    ['claim:2:1:r2', { iteration: 2, call: 1, inner: 0, retry: 2, word: '' }],
    ['value:compact:3', { iteration: 3, call: 0, inner: 0, retry: 0, word: 'compact' }],
    ['suspend:12:3', { iteration: 12, call: 3, inner: 0, retry: 0, word: '' }],
    ['value:approval:2:1', { iteration: 2, call: 1, inner: 0, retry: 0, word: 'approval' }],
    ['answer:approval:2:1', { iteration: 2, call: 1, inner: 0, retry: 0, word: 'approval' }],
    ['tool:2:1.3', { iteration: 2, call: 1, inner: 3, retry: 0, word: '' }],
    ['answer:settle:2:1.3:r2', { iteration: 2, call: 1, inner: 3, retry: 2, word: 'settle' }],
    ['value:script:2:1', { iteration: 2, call: 1, inner: 0, retry: 0, word: 'script' }],
    ['answer:settle:2:1:r2', { iteration: 2, call: 1, inner: 0, retry: 2, word: 'settle' }],
  ])('parses %s', (name, place) => {
    expect(parseStepName(name)).toEqual({ kind: name.split(':')[0], ...place });
  });

  it.each(['answer:3', 'something', 'tool', '', 'model:x'])('sorts %j, which has no position, last', (name) => {
    expect(parseStepName(name).iteration).toBe(Infinity);
    expect(compareStepNames(name, 'tool:999999999:9')).toBe(1);
  });
});

/** The attempts of a call, and whether its result is recorded. */
interface Call {
  readonly rounds: readonly Record<'isApproved' | 'isClaimed' | 'isSuspended' | 'isSettled', boolean>[];
  readonly isRecorded: boolean;
}
const round = fc.record({
  isApproved: fc.boolean(),
  isClaimed: fc.boolean(),
  isSuspended: fc.boolean(),
  isSettled: fc.boolean(),
});
const call: fc.Arbitrary<Call> = fc.record({ rounds: fc.array(round, { maxLength: 3 }), isRecorded: fc.boolean() });
/** A call, or a script with its calls. */
const script: fc.Arbitrary<Call & { readonly inner?: readonly Call[] }> = fc.oneof(
  call,
  fc.record({ rounds: fc.constant([]), isRecorded: fc.boolean(), inner: fc.array(call, { maxLength: 12 }) }),
);
const turn = fc.record({ isCompacted: fc.boolean(), retries: fc.nat(2), calls: fc.array(script, { maxLength: 12 }) });

/** The names of a call's steps in the order in which the loop records them. */
function namesOfCall(
  place: string,
  { rounds, isRecorded, inner }: Call & { readonly inner?: readonly Call[] },
): string[] {
  const start = inner ? [`value:script:${place}`] : [];
  const attempts = rounds.flatMap(({ isApproved, isClaimed, isSuspended, isSettled }, i) => {
    const at = i === 0 ? place : `${place}:r${i + 1}`;
    return [
      ...(isApproved ? [`value:approval:${at}`, `answer:approval:${at}`] : []),
      ...(isClaimed ? [`claim:${at}`] : []),
      ...(isSuspended ? [`suspend:${at}`, `answer:input:${at}`] : []),
      ...(isSettled ? [`value:settle:${at}`, `answer:settle:${at}`] : []),
    ];
  });
  const called = (inner ?? []).flatMap((one, i) => namesOfCall(`${place}.${i + 1}`, one));
  return [...start, ...attempts, ...called, ...(isRecorded ? [`tool:${place}`] : [])];
}

const loop = fc
  .array(turn, { maxLength: 12 })
  .map((turns) => [
    'value:window',
    ...turns.flatMap(({ isCompacted, retries, calls }, i) => [
      `model:${i + 1}`,
      ...(isCompacted ? [`model:compact:${i + 1}`, `value:compact:${i + 1}`] : []),
      ...Array.from({ length: retries }, (_, r) => `model:${i + 1}:r${r + 1}`),
      ...calls.flatMap((one, c) => namesOfCall(`${i + 1}:${c + 1}`, one)),
    ]),
  ]);

const anyName = fc.oneof(
  loop.map((names) => names.at(-1)!),
  fc.string(),
  fc
    .tuple(
      fc.constantFrom('model', 'tool', 'claim', 'answer', 'value', 'x'),
      fc.array(fc.constantFrom('1', '2', '10', 'r1', 'settle')),
    )
    .map(([kind, parts]) => [kind, ...parts].join(':')),
);

describe('the order of steps', () => {
  it('is that of the loop', () => {
    fc.assert(
      fc.property(loop, fc.infiniteStream(fc.nat()), (names, random) => {
        const shuffled = names
          .map((name) => ({ name, key: random.next().value as number }))
          .toSorted((a, b) => a.key - b.key)
          .map(({ name }) => name);
        expect(shuffled.toSorted(compareStepNames)).toEqual(names);
      }),
    );
  });

  it('is total', () => {
    fc.assert(
      fc.property(anyName, anyName, anyName, (a, b, c) => {
        expect(compareStepNames(a, b)).toBe(0 - compareStepNames(b, a));
        expect(compareStepNames(a, b) === 0).toBe(a === b);
        const isChain = compareStepNames(a, b) < 0 && compareStepNames(b, c) < 0;
        expect(isChain && compareStepNames(a, c) >= 0).toBe(false);
      }),
      { numRuns: 1000 },
    );
  });
});
