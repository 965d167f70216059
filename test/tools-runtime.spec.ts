import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ToolRegistry } from '../src/tool/index.js';
import { FakeLlm } from './support/fake-llm.js';
import { startJackdaw, type Jackdaw } from './support/jackdaw.js';

describe('tools while the server runs', () => {
  let llm: FakeLlm;
  let jackdaw: Jackdaw;
  let registry: ToolRegistry;
  beforeAll(async () => {
    llm = await FakeLlm.start();
    jackdaw = await startJackdaw({ llm });
    registry = jackdaw.app.get(ToolRegistry, { strict: false });
  });
  afterAll(async () => {
    await jackdaw.stop();
    await llm.close();
  });

  it('offers and calls a registered tool, and reports an error to the model when it is gone', async () => {
    registry.register({
      name: 'stock',
      description: 'Says how many of a thing there are.',
      parameters: { type: 'object', properties: { thing: { type: 'string' } }, required: ['thing'] },
      effect: 'read',
      handler: ({ thing }: { thing: string }) => ({ thing, left: 7 }),
    });
    const call = { calls: [{ name: 'stock', arguments: { thing: 'nails' } }] };
    llm.reply(call).reply({ text: '7 nails' });
    const { body } = await jackdaw.chat({ query: 'nails?', includeDetails: true });
    expect(body).toMatchObject({
      result: '7 nails',
      tool_results: [{ tool: 'stock', success: true, result: { thing: 'nails', left: 7 } }],
    });
    expect(JSON.stringify(llm.requests[0])).toContain('Says how many of a thing there are.');

    expect(registry.unregister('stock')).toBe(true);
    llm.reset();
    llm.reply(call).reply({ text: 'no idea' });
    const after = await jackdaw.chat({ query: 'nails?', includeDetails: true });
    expect(after.body).toMatchObject({
      result: 'no idea',
      tool_results: [{ tool: 'stock', success: false, error: expect.stringContaining('Unknown tool "stock"') }],
    });
    expect(JSON.stringify(llm.requests[0])).not.toContain('Says how many of a thing there are.');
  });

  it('include the built-in ones', async () => {
    llm.reset();
    llm
      .reply({
        calls: [
          { name: 'calculator', arguments: { expression: '1,234.5 × 20%' } },
          { name: 'string_tools', arguments: { text: 'upper: hello' } },
          { name: 'string_tools', arguments: { text: 'hello' } },
          { name: 'get_timestamp', arguments: { timezone: 'Asia/Shanghai', format: 'YYYY-MM-DD' } },
        ],
      })
      .reply({ text: 'done' });
    const { body } = await jackdaw.chat({ query: 'go', includeDetails: true });
    expect(body['tool_results']).toMatchObject([
      { result: '246.9' },
      { result: 'HELLO' },
      { success: false, error: expect.stringContaining('for example {"operation": "upper"') },
      { result: expect.stringMatching(/^\d{4}-\d\d-\d\d$/) },
    ]);
  });
});
