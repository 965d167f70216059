import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { FakeLlm } from './support/fake-llm.js';
import { startJackdaw, type Jackdaw } from './support/jackdaw.js';
import { newClient, oldClient } from './support/mcp-clients.js';

let llm: FakeLlm;
let jackdaw: Jackdaw;
beforeAll(async () => {
  llm = await FakeLlm.start();
  jackdaw = await startJackdaw({ llm });
});
afterAll(async () => {
  await jackdaw.stop();
  await llm.close();
});

describe.each([
  ['of the newest protocol', newClient],
  ['of the protocol with sessions', oldClient],
])('a client %s', (_name, connect) => {
  it('sees the tools and calls one', async () => {
    const client = await connect(jackdaw.url);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual([
      'calculator',
      'get_timestamp',
      'string_tools',
      'sequentialthinking',
      'ask_default',
    ]);
    const result = await client.callTool({ name: 'calculator', arguments: { expression: '1 + 2' } });
    expect(result).toMatchObject({ content: [{ type: 'text' }] });
    await client.close();
  });
});
