import { describe, expect, it } from 'vitest';
import { ToolRegistry } from '../../tool/index.js';
import type { McpServer } from '../mcp-server.types.js';
import type { UsableTool } from '../trust/judged-tool.types.js';
import { ServerTools } from './server-tools.registry.js';

const server: McpServer = {
  name: 'files',
  isEnabled: true,
  transport: { kind: 'http', url: 'http://127.0.0.1:1/', headers: {} },
  timeoutMs: 1000,
  pins: 'follow',
  scan: 'hide',
  areHintsBelieved: false,
  isPrivate: true,
  isUntrusted: true,
  isRequired: false,
  effects: {},
  isStateful: false,
  source: 'a test',
  origin: 'declared',
};
const listed = (name: string, description = 'Does it.'): UsableTool => ({
  tool: { name, description, inputSchema: { type: 'object' } },
});
const never = new AbortController().signal;

function prepared(): { registry: ToolRegistry; tools: ServerTools; names: () => string[] } {
  const registry = new ToolRegistry();
  const tools = new ServerTools(server, registry, () => {
    throw new Error('no call');
  });
  return { registry, tools, names: () => registry.list().map(({ definition }) => definition.name) };
}

describe('ServerTools', () => {
  it('shows readers the present tools until all new ones are prepared', async () => {
    const { tools, names } = prepared();
    tools.swap(await tools.prepare({ tools: [listed('a'), listed('b')] }, never));
    const next = await tools.prepare({ tools: [listed('b'), listed('c')] }, never);
    expect([names(), tools.names]).toEqual([
      ['files__a', 'files__b'],
      ['files__a', 'files__b'],
    ]);
    tools.swap(next);
    expect([names(), tools.names]).toEqual([
      ['files__b', 'files__c'],
      ['files__b', 'files__c'],
    ]);
  });

  it('keeps an unchanged tool, and replaces a changed one', async () => {
    const { tools, registry } = prepared();
    tools.swap(await tools.prepare({ tools: [listed('a'), listed('b')] }, never));
    const before = registry.list();
    tools.swap(await tools.prepare({ tools: [listed('a'), listed('b', 'Does more.')] }, never));
    expect(registry.get('files__a')).toBe(before[0]);
    expect(registry.get('files__b').definition.description).toBe('Does more.');
  });

  it('registers a tool that another preparation has removed in between', async () => {
    const { tools, names } = prepared();
    tools.swap(await tools.prepare({ tools: [listed('a')] }, never));
    const unchanged = await tools.prepare({ tools: [listed('a')] }, never);
    tools.swap(await tools.prepare({ tools: [] }, never));
    tools.swap(unchanged);
    expect(names()).toEqual(['files__a']);
  });

  it('ends a long preparation when the connection ends, and changes nothing', async () => {
    const { tools, names } = prepared();
    tools.swap(await tools.prepare({ tools: [listed('a')] }, never));
    const ended = new AbortController();
    const many = Array.from({ length: 3000 }, (_, n) => listed(`many_${n}`, 'x'.repeat(2000)));
    const preparing = tools.prepare({ tools: many }, ended.signal);
    ended.abort(new Error('it is closing'));
    await expect(preparing).rejects.toThrow('it is closing');
    expect(names()).toEqual(['files__a']);
  });
});
