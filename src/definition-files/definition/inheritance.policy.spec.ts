import { describe, expect, it } from 'vitest';
import { inherit } from './inheritance.policy.js';

const OFF = { name: 'web', enabled: false };

describe('the tools of an agent that extends another', () => {
  it.each<[string, object, object, object]>([
    ['are those of the base agent', { tools: ['a'], mcpServers: ['web'] }, {}, { tools: ['a'], mcpServers: ['web'] }],
    [
      'are its own instead of those of the base agent',
      { tools: ['a'], mcpServers: ['web'] },
      { tools: ['b'] },
      { tools: ['b'] },
    ],
    ['are those of its own servers', { tools: '*' }, { mcpServers: ['db'] }, { mcpServers: ['db'] }],
    ['exclude a disabled server', { tools: '*' }, { mcpServers: [OFF] }, { tools: '*', mcpServers: [OFF] }],
    [
      'exclude only the disabled server',
      { mcpServers: ['web', { name: 'db' }] },
      { mcpServers: [OFF] },
      { mcpServers: [{ name: 'db' }, OFF] },
    ],
  ])('%s', (_case, base, own, expected) => {
    expect(inherit({ ...base }, { ...own })).toEqual(expected);
  });
});

it('replaces schemas as a whole', () => {
  const base = { guardrails: { taint: 'deny', arguments: { x: { type: 'object', required: ['a'] } } } };
  const own = { guardrails: { arguments: { x: { type: 'object' } } } };
  expect(inherit(base, own)).toEqual({ guardrails: { taint: 'deny', arguments: { x: { type: 'object' } } } });
});
