import { describe, expect, it } from 'vitest';
import { AgentRegistry } from './agent.registry.js';

const model = { provider: 'offline' };

function registry(...names: string[]): AgentRegistry {
  const made = new AgentRegistry((definition) => ({ ...definition, protocol: 'native' }));
  for (const name of names) made.register({ name, model }, `${name}.xml`);
  return made;
}

describe('AgentRegistry', () => {
  it('replaces an agent at its position', () => {
    const agents = registry('a', 'b');
    const before = agents.get('a');
    let notified = 0;
    agents.changes.add(() => notified++);
    agents.replace({ name: 'a', model, instructions: 'new' }, 'other.xml');
    expect(agents.names()).toEqual(['a', 'b']);
    expect(agents.get().definition).toMatchObject({ instructions: 'new', protocol: 'native' });
    expect(agents.declared('a')).toMatchObject({ source: 'other.xml', definition: { protocol: 'auto' } });
    expect(before.definition.instructions).not.toBe('new');
    expect(notified).toBe(1);
  });

  it('refuses to replace a missing agent, and refuses an invalid replacement', () => {
    const agents = registry('a');
    expect(() => agents.replace({ name: 'b', model })).toThrow('There is no agent "b"; there is: a.');
    expect(() => agents.replace({ name: 'a', model, tools: [''] })).toThrow('The definition of agent "a" is wrong');
    expect(agents.declared('a')?.source).toBe('a.xml');
  });

  it.each(['客服:一@例', 'a.b', '\u{20000}'.repeat(128), 'x'.repeat(64)])(
    'maps the name %j to a legal tool',
    (name) => {
      const agents = registry('a', name);
      const tool = agents.asTool(name).definition.name;
      expect(tool).toMatch(/^ask_[A-Za-z0-9_-]{1,60}$/);
      expect([registry(name).toolOf(name), agents.askedBy(tool), agents.toolOf('a')]).toEqual([tool, name, 'ask_a']);
    },
  );

  it.each(['', '.', '..', 'a b', 'a/b', 'e\u0301', 'workflow:x', 'x'.repeat(129)])('refuses the name %j', (name) => {
    expect(() => registry(name)).toThrow('is wrong');
  });

  it('names both agents of one tool', () => {
    const literal = registry('a.b').toolOf('a.b').slice('ask_'.length);
    expect(() => registry('a.b', literal)).toThrow(
      `The agents "a.b" (a.b.xml) and "${literal}" (${literal}.xml) would have one tool "ask_${literal}"; rename one.`,
    );
  });

  it('names both sources of a duplicate name', () => {
    const agents = registry('a');
    expect(() => agents.register({ name: 'a', model }, 'b.xml')).toThrow(
      'There are two agents named "a" (a.xml, and b.xml); rename one.',
    );
    expect(() => agents.register({ name: 'a', model }, 'a.xml')).toThrow('There are two agents named "a"; rename one.');
  });
});
