import { expect, it } from 'vitest';
import type { WireRequestMessage } from './message.mapper.js';
import { withShortIds } from './request.mapper.js';

const calling = (...ids: string[]): WireRequestMessage => ({
  role: 'assistant',
  content: null,
  tool_calls: ids.map((id) => ({ id, type: 'function', function: { name: 'add', arguments: '{}' } })),
});
const result = (id: string): WireRequestMessage => ({ role: 'tool', tool_call_id: id, content: '3' });

it('ids of calls and their results become the same nine letters and digits; valid ids stay', () => {
  const [calls, ...results] = withShortIds([
    calling('call_1', 'abcDEF123', 'call_2'),
    result('call_1'),
    result('abcDEF123'),
    result('call_2'),
  ]);
  const ids = results.map((message) => (message as { tool_call_id: string }).tool_call_id);
  expect((calls as { tool_calls: { id: string }[] }).tool_calls.map(({ id }) => id)).toEqual(ids);
  expect(ids[1]).toBe('abcDEF123');
  expect(new Set(ids).size).toBe(3);
  for (const id of ids) expect(id).toMatch(/^[a-zA-Z0-9]{9}$/);
});
