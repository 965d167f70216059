import { describe, expect, it } from 'vitest';
import { randomBytes } from 'node:crypto';
import { AesGcmCipher } from '../src/security/encryption/aes-gcm-cipher.js';
import { StateCodec } from '../src/tool-state/backend/state-codec.js';
import { statePlace } from '../src/tool-state/backend/state-place.factory.js';

const PLACE = statePlace({ tenant: 't', id: 'c' }, 'business', 1);
const LONG = JSON.stringify({ text: 'kingfisher '.repeat(200) });
const RANDOM = JSON.stringify({ text: randomBytes(3000).toString('base64') });

describe('texts of states', () => {
  const codec = new StateCodec({ isCompressed: true });
  const stored = (json: string) => codec.seal(json, PLACE);

  it('are compressed when they are long and shrink', () => {
    expect(stored(LONG).length).toBeLessThan(LONG.length / 10);
    for (const json of [JSON.stringify({ text: 'a'.repeat(1000) }), RANDOM]) expect(stored(json)).toBe(json);
  });

  it('are JSON all the same: a codec with a key can open an unencrypted text', () => {
    expect(JSON.parse(stored(LONG))).toMatch(/^gzip:/);
    const cipher = new AesGcmCipher([{ id: 'k', key: randomBytes(32).toString('base64') }], false);
    expect(new StateCodec({ cipher }).open(stored(LONG), PLACE)).toBe(LONG);
  });

  it('are read unchanged, whether or not compression is on now', () => {
    for (const json of [LONG, RANDOM, '{}', '{"text":"\\"gzip:AAAA\\""}']) {
      for (const [writer, reader] of [
        [codec, new StateCodec()],
        [new StateCodec(), codec],
        [codec, codec],
      ] as const) {
        expect(reader.open(writer.seal(json, PLACE), PLACE)).toBe(json);
      }
    }
  });
});
