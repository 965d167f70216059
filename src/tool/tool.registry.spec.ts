import { describe, expect, it } from 'vitest';
import { createSchemaInput } from './input/schema-input.factory.js';
import { createTool } from './tool.factory.js';
import { ToolRegistry } from './tool.registry.js';
import type { Tool } from './tool.types.js';

const make = (name: string, source = `Tools.${name}`): Promise<Tool> =>
  createTool(
    { name, description: 'For a test.', effect: 'read', source },
    () => createSchemaInput({ type: 'object', properties: {} }),
    () => 'done',
  );

async function registryOf(...names: string[]): Promise<ToolRegistry> {
  const registry = new ToolRegistry();
  for (const name of names) registry.register(await make(name));
  return registry;
}

describe('ToolRegistry', () => {
  it('returns the same array for the same patterns until a tool is added or removed', async () => {
    const registry = await registryOf('a', 'b');
    const patterns = ['a', 'gone', 'c*'];
    const names = () => registry.available(patterns).map((tool) => tool.definition.name);
    expect(registry.available(patterns)).toBe(registry.available(patterns));
    expect(registry.available('*')).toBe(registry.available('*'));
    expect(names()).toEqual(['a']);
    registry.register(await make('c1'));
    expect(names()).toEqual(['a', 'c1']);
    registry.unregister('a');
    expect(names()).toEqual(['c1']);
    expect(registry.available('*').map((tool) => tool.definition.name)).toEqual(['b', 'c1']);
  });

  it('supports has, get, list and unregister', async () => {
    const registry = await registryOf('a', 'b');
    expect(registry.has('a')).toBe(true);
    expect(registry.get('b').definition.name).toBe('b');
    expect(registry.list().map((tool) => tool.definition.name)).toEqual(['a', 'b']);
    expect(registry.unregister('a')).toBe(true);
    expect(registry.unregister('a')).toBe(false);
    expect(registry.has('a')).toBe(false);
  });

  it('rejects a second tool of the same name, naming both sources', async () => {
    const registry = new ToolRegistry();
    registry.register(await make('sum', 'A.sum'));
    const second = await make('sum', 'B.add');
    expect(() => registry.register(second)).toThrow(
      expect.objectContaining({ code: 'TOOL_DUPLICATE', message: expect.stringMatching(/"sum": A\.sum and B\.add/) }),
    );
  });

  it.each(['', 'with space', 'x'.repeat(65), 'naïve', 'finish'])('refuses the name %j', async (name) => {
    const tool = { ...(await make('ok')), definition: { ...(await make('ok')).definition, name } };
    expect(() => new ToolRegistry().register(tool)).toThrow(expect.objectContaining({ code: 'TOOL_INVALID' }));
  });

  it('suggests similar names', async () => {
    const registry = await registryOf('calculator', 'get_timestamp');
    expect(() => registry.get('calculater')).toThrow('There is no tool "calculater". Did you mean "calculator"?');
    expect(() => registry.get('weather')).toThrow(expect.objectContaining({ code: 'TOOL_NOT_FOUND' }));
  });

  it('selects by names and patterns, each once', async () => {
    const registry = await registryOf('git_log', 'calculator', 'git_show');
    const names = (patterns: readonly string[] | '*'): string[] =>
      registry.select(patterns).map((tool) => tool.definition.name);
    expect(names('*')).toEqual(['git_log', 'calculator', 'git_show']);
    expect(names(['calculator', 'git_*', 'git_log'])).toEqual(['calculator', 'git_log', 'git_show']);
    expect(names(['svn_*'])).toEqual([]);
    expect(names(['git.*'])).toEqual([]);
    expect(() => names(['calculator', 'nope'])).toThrow('There is no tool "nope"');
  });
});
