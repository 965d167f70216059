import { expect, it } from 'vitest';
import { withCacheMarks } from './cache-mark.mapper.js';

const MARK = { cache_control: { type: 'ephemeral' } };
const text = (words: string) => ({ type: 'text', text: words });
const user = (words: string) => ({ role: 'user' as const, content: [text(words)] });
const tool = (name: string) => ({ name, input_schema: { type: 'object' } });

it('marks the system text and the last two turns of the user', () => {
  const answer = { role: 'assistant' as const, content: [text('b')] };
  const parts = { system: 's', tools: [tool('x')], messages: [user('a'), answer, user('c'), answer, user('d')] };
  expect(withCacheMarks(parts)).toEqual({
    system: [{ ...text('s'), ...MARK }],
    tools: [tool('x')],
    messages: [
      user('a'),
      answer,
      { role: 'user', content: [{ ...text('c'), ...MARK }] },
      answer,
      { role: 'user', content: [{ ...text('d'), ...MARK }] },
    ],
  });
});

it('marks the last tool and the last block where there is no system text', () => {
  const messages = [{ role: 'user' as const, content: [text('a'), text('b')] }];
  expect(withCacheMarks({ tools: [tool('x'), tool('y')], messages })).toEqual({
    tools: [tool('x'), { ...tool('y'), ...MARK }],
    messages: [{ role: 'user', content: [text('a'), { ...text('b'), ...MARK }] }],
  });
});

it('marks nothing in a single question without tools', () => {
  const parts = { system: 's', messages: [user('a')] };
  expect(withCacheMarks(parts)).toEqual(parts);
});
