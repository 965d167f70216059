import { describe, expect, it } from 'vitest';
import { createSecretMask, maskSecrets } from './secret.mapper.js';

describe('maskSecrets', () => {
  it.each([
    ['DB_PASSWORD=hunter2secret failed', 'DB_PASSWORD=[redacted] failed'],
    ['OPENAI_API_KEY=gw-prod-123456789', 'OPENAI_API_KEY=[redacted]'],
    ['{"db_password":"hunter2"}', '{"db_password":"[redacted]"}'],
    ['{"password":"pa,ss;word"}', '{"password":"[redacted]"}'],
    ['{"password":"pa\\"ss}word","n":1}', '{"password":"[redacted]","n":1}'],
    ['DB_PASSWORD="pa;ss"', 'DB_PASSWORD="[redacted]"'],
    ["token='pa ss'", "token='[redacted]'"],
    ['https://host/?api_key=k-123&x=1', 'https://host/?api_key=[redacted]&x=1'],
  ])('masks the whole value that is assigned to a secret’s name: %s', (text, output) => {
    expect(maskSecrets(text)).toBe(output);
  });

  it.each(['max_tokens=100', 'subpassword=1', 'password=', 'token=""', '{"password":""}'])('keeps %s', (text) => {
    expect(maskSecrets(text)).toBe(text);
  });
});

describe('a secret mask', () => {
  it.each([[['abcdefgh', 'abcdefghijkl']], [['abcdefghijkl', 'abcdefgh']]])(
    'masks the longest of known secrets with the same start: %j',
    (known) => {
      expect(createSecretMask(known)('abcdefghijkl, abcdefgh')).toBe('[redacted], [redacted]');
    },
  );
});

describe('a long text', () => {
  const filling = (length: number) => 'word '.repeat(length / 5);

  it.each([
    ['a key', 'sk-0123456789abcdef'],
    ['a known secret with white space', 'top secret value of two\nlines'],
  ])('has %s masked wherever it is', (_what, secret) => {
    const mask = createSecretMask(['top secret value of two\nlines']);
    for (const before of [524_280, 524_285, 524_290, 1_048_570]) {
      const text = `${filling(before)}${secret} ${filling(1000)}`;
      expect(mask(text) === `${filling(before)}[redacted] ${filling(1000)}`).toBe(true);
    }
  });

  it.each(['"apiKey":"', '"password":"', 'Bearer ', 'sk-', "token='", 'ghp_'])(
    'may have millions of characters after %s',
    (start) => {
      expect(maskSecrets(`${start}${'x'.repeat(6_000_000)}`).slice(0, 30)).toContain('[redacted]');
    },
  );
});
