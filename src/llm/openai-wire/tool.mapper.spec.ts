import { expect, it } from '@jest/globals';
import { toWireTools } from './request.mapper.js';

it('maps the same array once', () => {
  const tools = [{ name: 'add', description: 'Adds.', inputSchema: { type: 'object' } }];
  expect(toWireTools(tools)).toBe(toWireTools(tools));
  expect(toWireTools([...tools])).not.toBe(toWireTools(tools));
});
