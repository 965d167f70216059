import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FakeLlm } from './support/fake-llm.js';
import { startJackdaw, type Jackdaw } from './support/jackdaw.js';
import { listed, scripted, untilStatus } from './support/mcp/scripted-servers.js';
import { describeClients, newClient } from './support/mcp-clients.js';

const URI = 'ui://weather/view.html';
const TYPE = 'text/html;profile=mcp-app';
const UI = { resourceUri: URI, visibility: ['model', 'app'] };
const META = { ui: { csp: { connectDomains: ['https://api.example'] }, prefersBorder: true } };
const HTML = '<!doctype html><p>晴 &amp; 20°</p>\n';

const server = scripted('weather', {
  capabilities: { tools: {}, resources: {} },
  tools: [
    { ...listed('structured'), _meta: { ui: UI, 'ui/resourceUri': URI, 'other/key': 1 } },
    { ...listed('echo'), _meta: { ui: { resourceUri: URI, visibility: ['app'] } } },
    listed('repeat'),
  ],
  replies: { 'resources/read': { contents: [{ uri: URI, mimeType: TYPE, text: HTML, _meta: META }] } },
});

let llm: FakeLlm;
let jackdaw: Jackdaw;
beforeAll(async () => {
  llm = await FakeLlm.start();
  jackdaw = await startJackdaw({ llm, env: { BUILTIN_TOOLS: 'none' }, options: { mcpServers: [server] } });
  await untilStatus(jackdaw, 'weather');
});
afterAll(async () => {
  await jackdaw.stop();
  await llm.close();
});

describeClients(
  () => jackdaw.url,
  (client) => {
    it('finds the view of a server’s tool in its definition, unchanged', async () => {
      const { tools } = await client().listTools();
      const meta = Object.fromEntries(tools.map(({ name, _meta }) => [name, _meta]));
      expect(meta['weather__structured']).toMatchObject({ ui: UI, 'ui/resourceUri': URI });
      expect(meta['weather__structured']).not.toHaveProperty('other/key');
      expect(meta['weather__echo']).toMatchObject({ ui: { visibility: ['app'] } });
      expect(meta['weather__repeat'] ?? {}).not.toHaveProperty('ui');
    });

    it('lists and reads the view, unchanged', async () => {
      const { resources } = await client().listResources();
      expect(resources.filter(({ uri }) => uri.startsWith('ui:'))).toEqual([
        { uri: URI, name: 'weather__structured', mimeType: TYPE },
      ]);
      const { contents } = await client().readResource({ uri: URI });
      expect(contents).toEqual([{ uri: URI, mimeType: TYPE, text: HTML, _meta: META }]);
      await expect(client().readResource({ uri: 'ui://weather/other' })).rejects.toThrow(/no resource/);
    });

    it('receives the structured result that the view shows', async () => {
      expect(await client().callTool({ name: 'weather__structured', arguments: {} })).toMatchObject({
        structuredContent: { n: 1 },
      });
    });
  },
);

describe('the view of a tool', () => {
  it('is neither listed nor readable while its tools are switched off', async () => {
    const client = await newClient(jackdaw.url);
    await jackdaw.post('/api/tools/weather__structured/disable');
    await jackdaw.post('/api/tools/weather__echo/disable');
    try {
      const { resources } = await client.listResources();
      expect(resources.filter(({ uri }) => uri.startsWith('ui:'))).toEqual([]);
      await expect(client.readResource({ uri: URI })).rejects.toThrow(/no resource/);
    } finally {
      await client.close();
      await jackdaw.post('/api/tools/weather__structured/enable');
      await jackdaw.post('/api/tools/weather__echo/enable');
    }
  });

  it('alone calls a tool that is not for models', async () => {
    llm.reply({ text: 'ok' });
    await jackdaw.chat({ query: 'x' });
    expect(llm.lastRequest.tools?.map((tool) => tool.function.name).toSorted()).toEqual([
      'weather__repeat',
      'weather__structured',
    ]);
  });
});
