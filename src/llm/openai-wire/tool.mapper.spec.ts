import { expect, it } from 'vitest';
import { toWireTools } from './request.mapper.js';

it('maps the same array once', () => {
  const tools = [{ name: 'add', description: 'Adds.', inputSchema: { type: 'object' } }];
  expect(toWireTools(tools)).toBe(toWireTools(tools));
  expect(toWireTools([...tools])).not.toBe(toWireTools(tools));
});
