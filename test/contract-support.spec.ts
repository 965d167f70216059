import { describe, expect, it } from 'vitest';
import { assertContract, assertEvent, type CheckedAnswer } from './support/contract.js';

const answer = (more: Partial<CheckedAnswer>): CheckedAnswer => ({
  method: 'GET',
  path: '/api/health/live',
  status: 200,
  type: 'application/json; charset=utf-8',
  text: '{"status":"ok","info":{},"error":{},"details":{}}',
  ...more,
});

describe('the check of answers against the OpenAPI document', () => {
  it('accepts a documented answer, and knows only documented operations', () => {
    for (const more of [{}, { path: '/docs/json', status: 418 }, { method: 'PATCH', status: 418 }])
      expect(() => assertContract(answer(more))).not.toThrow();
  });

  it.each<[string, Partial<CheckedAnswer>, RegExp]>([
    ['an undocumented status', { status: 418 }, /the status of GET \/api\/health\/live 418/],
    ['an undocumented type', { type: 'text/plain' }, /the type "text\/plain" of GET/],
    ['another body', { path: '/api/runs?limit=1', text: '{"runs":[],"next":7}' }, /\/next must be string,null/],
    [
      'a body of another problem',
      { path: '/api/runs/x', status: 404, type: 'application/problem+json', text: '{"title":"x"}' },
      /must have required property/,
    ],
  ])('refuses %s', (_case, more, message) => {
    expect(() => assertContract(answer(more))).toThrow(message);
  });

  it('refuses an event with another member', () => {
    assertEvent({ type: 'stream.closed', run_id: 'r', code: 'SHUTTING_DOWN' });
    expect(() => assertEvent({ type: 'stream.opened' })).toThrow(/the event/);
  });
});
