/**
 * True in the long form of tests, which npm scripts such as `npm run test:processes` run with the variables of
 * `test/long.env`. Otherwise a test that starts processes runs one case of each kind: docs/decisions/0096.
 */
export const IS_LONG_FORM = process.env['LONG_FORM'] !== undefined;

/** All cases in the long form; otherwise the first of them. */
export function inShortForm<Case>(count: number, cases: readonly Case[]): readonly Case[] {
  return IS_LONG_FORM ? cases : cases.slice(0, count);
}
