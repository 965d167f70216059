import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { callTool } from './support/direct-calls.js';
import { startJackdaw, type Jackdaw } from './support/jackdaw.js';
import { newClient, oldClient, textOf } from './support/mcp-clients.js';
import { ScriptedWeb } from './support/mcp/scripted-web.js';
import { listed, scripted, untilStatus } from './support/mcp/scripted-servers.js';

const HALF = 'a\ud83d b';
const WHOLE = 'a\ufffd b';
/** The escape with which JSON writes a lone surrogate. */
const ESCAPE = /\\ud[89a-f]/i;

describe('half a character', () => {
  let jackdaw: Jackdaw;
  let web: ScriptedWeb;
  beforeAll(async () => {
    web = await ScriptedWeb.start();
    const http = { name: 'web', enabled: true, type: 'http', http: { url: web.url } } as const;
    jackdaw = await startJackdaw({
      options: { mcpServers: [scripted('stdio', { tools: [listed('echo')] }), http] },
    });
    await Promise.all([untilStatus(jackdaw, 'stdio'), untilStatus(jackdaw, 'web')]);
  });
  afterAll(async () => {
    await jackdaw.stop();
    await web.close();
  });

  it('is replaced in a request to a server, and unchanged in the journal', async () => {
    const args = { text: HALF, nested: [{ [HALF]: HALF }] };
    const echoed = (await callTool(jackdaw, 'stdio__echo', { arguments: args })).body;
    expect(echoed).toMatchObject({ success: true, result: WHOLE });
    expect((await callTool(jackdaw, 'web__good', { arguments: args })).body).toMatchObject({ success: true });
    expect(web.bodies.at(-1)).toContain(WHOLE);
    expect(web.bodies.at(-1)).not.toMatch(ESCAPE);
    const events = await jackdaw.events(String(echoed['run_id']));
    const started = events.find(({ event }) => event === 'tool.started');
    expect(started).toMatchObject({ data: { arguments: JSON.stringify(args) } });
  });

  it.each([
    ['newest protocol', newClient],
    ['older protocol', oldClient],
  ])('is replaced in a result for a client of the %s', async (_name, connect) => {
    const client = await connect(jackdaw.url);
    const args = { operation: 'lower', text: 'A\ud83d' };
    const result = await client.callTool({ name: 'string_tools', arguments: args });
    expect(textOf(result)).toBe('a\ufffd');
    await client.close();
  });
});
