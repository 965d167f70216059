import { describe, it } from 'vitest';

/**
 * True in the long form of tests, which npm scripts such as `npm run test:processes` run with the variables of
 * `test/long.env`. Otherwise a test that starts processes runs some of its cases: docs/decisions/0096.
 */
export const IS_LONG_FORM = process.env['LONG_FORM'] !== undefined;

/** All cases in the long form; otherwise the first of them. */
export function inShortForm<const Case>(count: number, cases: readonly Case[]): readonly Case[] {
  return IS_LONG_FORM ? cases : cases.slice(0, count);
}

type Define = (title: string, define: () => void | Promise<void>) => void;

/** `it` of a test that only the long form runs. */
export const itInLongForm: Define = IS_LONG_FORM ? it : () => undefined;

/** `describe` of tests that only the long form runs. */
export const describeInLongForm: Define = IS_LONG_FORM ? describe : () => undefined;
