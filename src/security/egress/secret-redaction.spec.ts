import { describe, expect, it } from 'vitest';
import { SecretRedaction } from './secret-redaction.js';

describe('a secret of digits', () => {
  it.each([
    ['12345678', '12345678'],
    ['12345678', '-12345678.0'],
    ['12345678', '1.2345678e7'],
    ['12345678', '9123456780'],
    ['0012345678', '12345678'],
    // More digits than a number can represent.
    ['12345678901234567890', '12345678901234567890'],
    ['1234567890123456789012345', '1234567890123456789012345'],
    ['1234.5678', '1234.56780'],
  ])('%s is also redacted as the number %s', (secret, written) => {
    const redaction = new SecretRedaction(['other-secret', secret]);
    const said = JSON.parse(`{"a":[${written}],"${secret}":"${secret}"}`) as unknown;
    expect(redaction.value(said)).toEqual({ a: ['[redacted]'], '[redacted]': '[redacted]' });
  });

  it('does not change other values', () => {
    const redaction = new SecretRedaction(['12345678', 'word-and-1', '9'.repeat(400)]);
    const said = { a: [1, -0.5, 1234567, true, null, 1e300, Infinity] };
    expect(redaction.value(said)).toEqual(said);
  });
});
