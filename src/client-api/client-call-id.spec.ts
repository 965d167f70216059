import { describe, expect, it } from 'vitest';
import { findCall, parseClientCallId, toClientCallId } from './client-call-id.js';

describe('the id of a call for its client', () => {
  it.each(['tool:1:2', 'tool:1:2.3'])('names the run and the step %s', (step) => {
    const id = toClientCallId({ runId: 'r_1', step }, 'approval');
    expect(parseClientCallId(id, 'approval')).toEqual({ runId: 'r_1', step });
    expect(parseClientCallId(id)).toBeUndefined();
  });

  it.each([
    ['a', '1:1'],
    ['a.2', '1:1.2'],
    ['b.2', 'own'],
    ['c', undefined],
    ['c.1', undefined],
  ])('of the call %s is at %s', (callId, place) => {
    const places = new Map([
      ['a', '1:1'],
      ['b.2', 'own'],
    ]);
    expect(findCall(callId, (id) => places.get(id))).toBe(place);
  });
});
