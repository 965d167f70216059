import { expect, it } from 'vitest';
import { isAtLimit } from './continue-or-finish.processor.js';

const at = (version: number, iteration: number, repairs: number) =>
  isAtLimit({
    version,
    iteration,
    repairs,
    request: { limits: { maxIterations: 3 } },
  } as unknown as Parameters<typeof isAtLimit>[0]);

it.each([
  [3, 3, 0, true],
  [3, 2, 1, true],
  [3, 2, 0, false],
  [3, 1, 1, false],
  [2, 2, 2, false],
  [1, 3, 0, true],
])(
  'counts corrections from version 3 of the loop on (version %i, iteration %i, %i corrections)',
  (version, iteration, repairs, expected) => {
    expect(at(version, iteration, repairs)).toBe(expected);
  },
);
