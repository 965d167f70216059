import { describe, expect, it } from 'vitest';
import { parseRunPlace, RunItem } from './run-item.factory.js';

describe('parseRunPlace', () => {
  it.each([
    ['7', { n: 7, attempt: 0, offset: 0 }],
    ['0', { n: 0, attempt: 0, offset: 0 }],
    ['7.1000002.350', { n: 7, attempt: 1_000_002, offset: 350 }],
  ])('parses %s', (id, place) => {
    expect(parseRunPlace(id)).toEqual(place);
  });

  it.each(['', ' 1', '-1', '1.2', '1.2.3.4', '1..2', '1.2.x', '1e3', '1234567890', '1.1.12345678901', 'abc', '٣'])(
    'returns null for %o',
    (id) => {
      expect(parseRunPlace(id)).toBeNull();
    },
  );

  it('parses the id of an item', () => {
    const place = { n: 3, attempt: 1_000_001, offset: 5 };
    const item = new RunItem(null, 1, { type: 'message.delta', iteration: 1, text: 'hello' }, undefined, place);
    expect(parseRunPlace(item.id!)).toEqual(place);
    expect(new RunItem(null, 1, { type: 'step.started', step: 'model:1' }).id).toBeNull();
  });
});
