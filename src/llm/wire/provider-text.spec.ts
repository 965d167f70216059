import { describe, expect, it } from 'vitest';
import { quoteProvider } from './provider-text.mapper.js';

describe('quoteProvider()', () => {
  it.each([
    [
      { authorization: 'Bearer my-gateway-secret-123' },
      'invalid token my-gateway-secret-123',
      'invalid token [redacted]',
    ],
    [
      { cookie: 'session=first-value; own="second-value"' },
      'no first-value, no second-value',
      'no [redacted], no [redacted]',
    ],
    [{ 'x-key': 'part-one part-one-and-two' }, 'part-one-and-two is wrong', '[redacted] is wrong'],
    [{ 'x-title': 'My application' }, 'the application failed', 'the application failed'],
  ])('masks the parts of the header %j', (headers, said, line) => {
    expect(quoteProvider(said, { apiKey: '', headers }).line).toBe(line);
  });
});
