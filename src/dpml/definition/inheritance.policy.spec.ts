import { describe, expect, it } from '@jest/globals';
import { inherit } from './inheritance.policy.js';

const OFF = { name: 'web', enabled: false };

describe('the tools of an agent that extends another', () => {
  it.each<[string, object, object, object]>([
    ['are those of the other', { tools: ['a'], mcpServers: ['web'] }, {}, { tools: ['a'], mcpServers: ['web'] }],
    ['are its own', { tools: ['a'], mcpServers: ['web'] }, { tools: ['b'] }, { tools: ['b'] }],
    ['are those of its own servers', { tools: '*' }, { mcpServers: ['db'] }, { mcpServers: ['db'] }],
    ['lack a server', { tools: '*' }, { mcpServers: [OFF] }, { tools: '*', mcpServers: [OFF] }],
    [
      'lack a server, and no other',
      { mcpServers: ['web', { name: 'db' }] },
      { mcpServers: [OFF] },
      { mcpServers: [{ name: 'db' }, OFF] },
    ],
  ])('%s', (_case, base, own, expected) => {
    expect(inherit({ ...base }, { ...own })).toEqual(expected);
  });
});

it('takes schemas whole', () => {
  const base = { guardrails: { taint: 'deny', arguments: { x: { type: 'object', required: ['a'] } } } };
  const own = { guardrails: { arguments: { x: { type: 'object' } } } };
  expect(inherit(base, own)).toEqual({ guardrails: { taint: 'deny', arguments: { x: { type: 'object' } } } });
});
