import { describe, expect, it } from 'vitest';
import * as fc from 'fast-check';
import { randomBytes } from 'node:crypto';
import { AppError } from '../../errors/index.js';
import { AesGcmCipher } from './aes-gcm-cipher.js';
import type { Cipher, RowPlace } from './cipher.js';
import { PLAIN_CIPHER } from './cipher.factory.js';

const key = (id: string) => ({ id, key: randomBytes(32).toString('base64') });
const [first, second] = [key('k1'), key('k2')];
const cipher = new AesGcmCipher([first], false);
const strict = new AesGcmCipher([first], true);
const PLACE: RowPlace = { tenant: 't', column: 'run_step.result', owner: 'run', row: 'tool:1:1' };
const WORDS = JSON.stringify({ text: 'a secret that is long enough to be found, 漢字 🐦' });

function codeOf(open: Cipher, stored: string, place = PLACE): string {
  try {
    return `opened ${open.open(stored, place)}`;
  } catch (error) {
    if (error instanceof AppError) return error.code;
    throw error;
  }
}

const text = fc.oneof(fc.string({ unit: 'binary' }), fc.json(), fc.constant('é🐦'.repeat(200_000)));
const name = fc.string({ unit: 'binary', maxLength: 6 });
const places = fc.record(
  { tenant: name, column: name, owner: name, row: fc.oneof(name, fc.nat(9)), version: fc.nat(3) },
  { requiredKeys: ['tenant', 'column', 'owner', 'row'] },
);

describe('an encrypted text', () => {
  it('is decrypted byte for byte in its row, and is not JSON', () => {
    fc.assert(
      fc.property(text, places, (value, place) => {
        const json = JSON.stringify(value);
        const stored = cipher.seal(json, place);
        expect(stored).toMatch(/^enc:1:k1:[\w-]+$/);
        return cipher.open(stored, place) === json;
      }),
    );
  });

  it('differs each time', () => {
    const all = Array.from({ length: 1000 }, () => cipher.seal(WORDS, PLACE));
    expect(new Set(all).size).toBe(1000);
    // The body starts with the IV.
    expect(new Set(all.map((stored) => stored.slice(9, 25))).size).toBe(1000);
  });

  it.each([
    ['', cipher],
    [' in strict mode', strict],
  ])('is rejected after a change of any byte%s', (_where, open) => {
    const stored = Buffer.from(cipher.seal(WORDS, PLACE));
    fc.assert(
      fc.property(fc.nat(stored.length - 1), fc.integer({ min: 1, max: 255 }), (at, flip) => {
        const changed = Buffer.from(stored);
        changed[at] = changed[at]! ^ flip;
        expect(['DATA_TAMPERED', 'ENCRYPTION_KEY_UNKNOWN']).toContain(codeOf(open, changed.toString('latin1')));
      }),
      { numRuns: 2000 },
    );
  });

  it('is rejected after a change of any single bit', () => {
    const stored = Buffer.from(cipher.seal('null', PLACE));
    for (let bit = 0; bit < stored.length * 8; bit++) {
      const changed = Buffer.from(stored);
      changed[bit >> 3] = changed[bit >> 3]! ^ (1 << (bit & 7));
      expect(['DATA_TAMPERED', 'ENCRYPTION_KEY_UNKNOWN']).toContain(codeOf(cipher, changed.toString('latin1')));
    }
  });

  it('is rejected when it is truncated or extended', () => {
    const stored = cipher.seal(WORDS, PLACE);
    for (let length = 1; length < stored.length; length++) {
      expect(codeOf(cipher, stored.slice(0, length))).toBe('DATA_TAMPERED');
    }
    for (const more of ['A', '=', '==', ' ', '\n', 'AAAA', '\0']) {
      expect(codeOf(cipher, stored + more)).toBe('DATA_TAMPERED');
    }
  });

  it('is rejected in any other row, however similar', () => {
    fc.assert(
      fc.property(places, places, (one, other) => {
        const facts = ({ tenant, column, owner, row, version = 0 }: RowPlace) => [
          tenant,
          column,
          owner,
          String(row),
          version,
        ];
        fc.pre(JSON.stringify(facts(one)) !== JSON.stringify(facts(other)));
        expect(codeOf(cipher, cipher.seal(WORDS, one), other)).toBe('DATA_TAMPERED');
      }),
    );
    const stored = cipher.seal(WORDS, PLACE);
    // The boundaries between the parts of a place are authenticated.
    expect(codeOf(cipher, stored, { ...PLACE, owner: 'ru', row: 'ntool:1:1' })).toBe('DATA_TAMPERED');
    expect(codeOf(cipher, stored, { ...PLACE, tenant: 'tr', owner: 'un' })).toBe('DATA_TAMPERED');
    expect(codeOf(cipher, stored, { ...PLACE, version: 1 })).toBe('DATA_TAMPERED');
  });

  it('is reported with its row and without its content', () => {
    const stored = cipher.seal(WORDS, PLACE);
    let failure: AppError | undefined;
    try {
      cipher.open(stored.slice(0, -4), PLACE);
    } catch (error) {
      failure = error as AppError;
    }
    expect(failure?.message).toMatch(
      /^The stored run_step\.result of "run", row "tool:1:1" does not match the text that was written/,
    );
    expect(failure?.isRetryable).toBe(false);
    expect(failure?.details).toEqual({ column: 'run_step.result', owner: 'run', row: 'tool:1:1' });
  });
});

describe('encryption keys', () => {
  const rotated = new AesGcmCipher([second, first], false);

  it('decrypt texts of earlier keys after a rotation, and encrypt with the first key', () => {
    expect(rotated.open(cipher.seal(WORDS, PLACE), PLACE)).toBe(WORDS);
    expect(rotated.seal(WORDS, PLACE)).toMatch(/^enc:1:k2:/);
  });

  it('are named in the error when they are missing', () => {
    const stored = rotated.seal(WORDS, PLACE);
    for (const open of [cipher, PLAIN_CIPHER]) {
      expect(codeOf(open, stored)).toBe('ENCRYPTION_KEY_UNKNOWN');
      expect(() => open.open(stored, PLACE)).toThrow(/key "k2", which is not in ENCRYPTION_KEYS/);
    }
  });

  it('decrypt nothing of a different key with the same id', () => {
    const other = new AesGcmCipher([{ ...second, id: 'k1' }], false);
    expect(codeOf(other, cipher.seal(WORDS, PLACE))).toBe('DATA_TAMPERED');
    // A header that names a different key than the one used is rejected, too.
    expect(codeOf(rotated, cipher.seal(WORDS, PLACE).replace('k1', 'k2'))).toBe('DATA_TAMPERED');
  });
});

describe('a plain text', () => {
  it('is read unchanged, except in strict mode', () => {
    for (const json of [WORDS, 'null', '1', '"enc:1:k1:AAAA"', '[]']) {
      expect(cipher.open(json, PLACE)).toBe(json);
      expect(PLAIN_CIPHER.open(json, PLACE)).toBe(json);
      expect(PLAIN_CIPHER.seal(json, PLACE)).toBe(json);
      expect(codeOf(strict, json)).toBe('DATA_TAMPERED');
    }
  });

  it('must be JSON', () => {
    for (const wrong of [
      '',
      'enc',
      'enc:',
      'enc:1:',
      'enc:1:k1',
      'enc:1::AAAA',
      'enc:1:k1:',
      'enc:01:k1:AAAA',
      'ENC:1:k1:AAAA',
      '{',
    ]) {
      expect(codeOf(cipher, wrong)).toBe('DATA_TAMPERED');
    }
  });
});

describe('the hash of a text', () => {
  const both = new AesGcmCipher([second, first], false);

  it('depends on the key and the place, and differs from the hash of plain rows', () => {
    const rows = [PLACE, { ...PLACE, tenant: 'u' }, { ...PLACE, column: 'fact.terms' }, { ...PLACE, owner: 'other' }];
    const hashes = [cipher, both, PLAIN_CIPHER].map((one) => rows.map((place) => one.digest('tea', place)));
    expect(hashes.flat().every((digest) => /^[0-9a-f]{64}$/.test(digest))).toBe(true);
    // Without keys the place does not matter.
    expect(new Set(hashes.flat()).size).toBe(2 * rows.length + 1);
    expect(cipher.digest('tea', PLACE)).toBe(strict.digest('tea', PLACE));
  });

  it('is found under the first key, earlier keys and, except in strict mode, without a key', () => {
    const plain = PLAIN_CIPHER.digest('tea', PLACE);
    expect(both.digests('tea', PLACE)).toEqual([both.digest('tea', PLACE), cipher.digest('tea', PLACE), plain]);
    expect(strict.digests('tea', PLACE)).toEqual([cipher.digest('tea', PLACE)]);
    expect(PLAIN_CIPHER.digests('tea', PLACE)).toEqual([plain]);
  });
});
