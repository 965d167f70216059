import { describe, expect, it } from 'vitest';
import type { RunRecord } from '../../run/index.js';
import type { Verdict } from '../../run/decision/index.js';
import { SecurityPolicies } from '../../tool-policy/index.js';
import { screenVerdict } from './screened-verdict.policy.js';

const CARD = '4111 1111 1111 1111';
const SECRET = 'sk-proj-aB3dE6gH9jK2mN5pQ8sT1vW4yZ7';
/** A run without an agent, so that no agent rules apply. */
const RUN = { kind: 'tool', definition: '{}' } as RunRecord;

const policies = await SecurityPolicies.open(undefined, {
  rateLimits: [],
  content: { cards: { results: 'mask' }, secrets: { results: 'block', input: 'block' } },
});

describe('the verdict of a person on a tool call', () => {
  it.each<[given: Verdict, stored: Verdict]>([
    [
      { kind: 'settle', outcome: 'succeeded', result: { paid: [CARD] } },
      { kind: 'settle', outcome: 'succeeded', result: { paid: ['[cards]'] } },
    ],
    [
      { kind: 'settle', outcome: 'failed', error: `refused: ${CARD}` },
      { kind: 'settle', outcome: 'failed', error: 'refused: [cards]' },
    ],
  ])('is masked like a tool result: %j', (given, stored) => {
    expect(screenVerdict(policies, RUN, given)).toEqual({
      verdict: stored,
      masked: { on: 'result', found: ['cards'] },
    });
  });

  it.each<Verdict>([
    { kind: 'settle', outcome: 'succeeded', result: SECRET },
    { kind: 'settle', outcome: 'failed', error: SECRET },
  ])('is refused if its content is blocked in tool results: %j', (given) => {
    expect(() => screenVerdict(policies, RUN, given)).toThrow(expect.objectContaining({ code: 'INPUT_BLOCKED' }));
  });

  it.each<Verdict>([
    { kind: 'settle', outcome: 'retry' },
    { kind: 'settle', outcome: 'succeeded', result: 7 },
    { kind: 'approve', arguments: `{"card":"${CARD}"}` },
    // The card rule applies to tool results only.
    { kind: 'deny', reason: CARD },
    { kind: 'input', value: CARD },
  ])('is unchanged: %j', (given) => {
    expect(screenVerdict(policies, RUN, given)).toEqual({ verdict: given });
  });
});
