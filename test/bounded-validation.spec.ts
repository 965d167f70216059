import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startJackdaw, type Jackdaw } from './support/jackdaw.js';

/** Above the number of mistakes at which a validation stops. */
const COUNT = 5_000;
const KIB = 1024;

const many = <T>(make: (at: number) => T): T[] => Array.from({ length: COUNT }, (_, at) => make(at));
const fields = () => Object.fromEntries(many((at) => [`field_${at}`, at]));

describe('a request with thousands of mistakes', () => {
  let jackdaw: Jackdaw;
  let exported: { readonly turns: readonly object[] };
  beforeAll(async () => {
    jackdaw = await startJackdaw();
    await jackdaw.chat({ query: '1+1', sessionId: 'exported' });
    exported = (await jackdaw.get('/api/sessions/exported/export')).body as unknown as typeof exported;
  });
  afterAll(() => jackdaw.stop());

  const [turn, session] = [() => exported.turns[0], () => exported];
  it.each<[string, string, () => unknown]>([
    ['unknown fields', '/api/agent/chat', () => ({ query: 'x', ...fields() })],
    ['unknown fields of a nested object', '/api/agent/chat', () => ({ query: 'x', parameters: fields() })],
    ['unknown fields of an element', '/api/agent/chat', () => ({ query: 'x', images: [fields()] })],
    ['elements', '/api/agent/chat', () => ({ query: 'x', images: many(() => ({ url: 1, name: 1 })) })],
    ['elements of a list of texts', '/api/agent/chat', () => ({ query: 'x', parameters: { stop: many((at) => at) } })],
    ['turns of an import', '/api/sessions/import', () => ({ session: { ...session(), turns: many(() => ({})) } })],
    [
      'messages of an import',
      '/api/sessions/import',
      () => ({ session: { ...session(), turns: [{ ...turn(), messages: many(() => ({ role: 'user' })) }] } }),
    ],
    ['fields of an import', '/api/sessions/import', () => ({ session: { ...session(), ...fields() } })],
    [
      'long messages',
      '/api/agent/chat',
      () => ({ query: 'x', ...Object.fromEntries(many((at) => [`${'語'.repeat(40)}${at}`, 1])) }),
    ],
    ['long names', '/api/agent/chat', () => ({ query: 'x', ...Object.fromEntries([[`a${'b'.repeat(500_000)}`, 1]]) })],
  ])('is answered with at most 100 mistakes and 16 KiB: %s', async (_case, path, body) => {
    const { status, body: problem, text } = await jackdaw.post(path, body());
    expect([status, problem['code']]).toEqual([400, 'VALIDATION_FAILED']);
    const { errors, omitted_errors: omitted = 0 } = problem as unknown as {
      errors: unknown[];
      omitted_errors?: number;
    };
    expect(errors.length).toBeGreaterThan(0);
    expect(errors.length + omitted).toBeLessThanOrEqual(100);
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(16 * KIB);
  });

  it('has all mistakes of a usual request', async () => {
    const { body } = await jackdaw.chat({
      query: 1,
      unknown: 1,
      parameters: { stop: 1, other: 1 },
      images: [{ a: 1 }],
    });
    const places = (body['errors'] as unknown as { field: string }[]).map(({ field }) => field);
    expect(new Set(places)).toEqual(
      new Set(['unknown', 'query', 'parameters.other', 'parameters.stop', 'images.0.a', 'images.0.url']),
    );
  });
});
