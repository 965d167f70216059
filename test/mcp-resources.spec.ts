import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readFileSync } from 'node:fs';
import { McpPrompts, McpResources } from '../src/index.js';
import { Desk } from './support/desk.tool.js';
import { FakeLlm } from './support/fake-llm.js';
import { gate, startJackdaw, type Jackdaw } from './support/jackdaw.js';
import { describeClients, newClient, oldClient, runIdOf } from './support/mcp-clients.js';

let llm: FakeLlm;
let jackdaw: Jackdaw;
beforeAll(async () => {
  llm = await FakeLlm.start();
  llm.always({ text: 'fine' });
  jackdaw = await startJackdaw({
    llm,
    options: { agents: [{ name: 'clerk', description: 'Knows the files.', model: { provider: 'openai' } }] },
  });
  const resources = jackdaw.app.get(McpResources);
  resources.register({
    uri: 'docs://handbook',
    name: 'handbook',
    description: 'How we work.',
    mimeType: 'text/markdown',
    read: () => ({ text: '# Work' }),
  });
  resources.register({
    uri: 'docs://pages/{page}',
    name: 'page',
    description: 'A page.',
    read: ({ page = '' }, { id }) => (page === 'none' ? null : { text: `${page} for ${id}`, mimeType: 'text/plain' }),
  });
  jackdaw.app.get(McpPrompts).register({
    name: 'greet',
    description: 'Greets a person.',
    arguments: [{ name: 'who', required: true }],
    get: ({ who }) => [{ role: 'user', content: { type: 'text', text: `Greet ${who}.` } }],
    complete: (_argument, typed) => ['ann', 'anton', 'bob'].filter((name) => name.startsWith(typed)),
  });
});
afterAll(async () => {
  await jackdaw.stop();
  await llm.close();
});

describeClients(
  () => jackdaw.url,
  (client) => {
    const read = async (uri: string) => {
      const [content] = (await client().readResource({ uri })).contents;
      return content && 'text' in content ? content.text : undefined;
    };

    it('reads an application’s own resources, at one address or at many', async () => {
      const { resources } = await client().listResources();
      expect(resources[0]).toEqual({
        uri: 'docs://handbook',
        name: 'handbook',
        description: 'How we work.',
        mimeType: 'text/markdown',
      });
      const { resourceTemplates } = await client().listResourceTemplates();
      expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual([
        'docs://pages/{page}',
        'jackdaw://sessions/{id}',
        'jackdaw://runs/{id}',
      ]);
      expect(await read('docs://handbook')).toBe('# Work');
      expect(await read('docs://pages/one')).toBe('one for local');
      for (const uri of ['docs://pages/none', 'docs://pages/a/b', 'docs://handbook/x', 'jackdaw://runs/nowhere', 'x']) {
        await expect(client().readResource({ uri })).rejects.toMatchObject({ code: -32_602, data: { uri } });
      }
    });

    it('reads sessions with their messages, and runs with their outcomes', async () => {
      const asked = await client().callTool({ name: 'ask_clerk', arguments: { message: 'Where?' } });
      const { session_id } = asked.structuredContent as { session_id: string };
      expect(JSON.parse((await read(`jackdaw://sessions/${session_id}`)) ?? '')).toMatchObject({
        id: session_id,
        turn_count: 1,
        messages: [
          { turn: 1, role: 'user', content: 'Where?' },
          { turn: 1, role: 'assistant', content: 'fine' },
        ],
      });
      expect(JSON.parse((await read(`jackdaw://runs/${runIdOf(asked)}`)) ?? '')).toMatchObject({ result: 'fine' });
    });

    it('receives prompts: an application’s own, and one for each agent', async () => {
      const { prompts } = await client().listPrompts();
      expect(prompts.map(({ name }) => name)).toEqual(['greet', 'ask_clerk']);
      const greeting = await client().getPrompt({ name: 'greet', arguments: { who: 'Ann' } });
      expect(greeting.messages).toEqual([{ role: 'user', content: { type: 'text', text: 'Greet Ann.' } }]);
      const { messages } = await client().getPrompt({ name: 'ask_clerk', arguments: { message: 'Where?' } });
      expect(JSON.stringify(messages)).toMatch(/ask_clerk.*Knows|Knows.*ask_clerk/);
      for (const wrong of [{ name: 'greet' }, { name: 'unknown' }]) {
        await expect(client().getPrompt(wrong)).rejects.toMatchObject({ code: -32_602 });
      }
      const ref = { type: 'ref/prompt' as const, name: 'greet' };
      const { completion } = await client().complete({ ref, argument: { name: 'who', value: 'an' } });
      expect(completion).toMatchObject({ values: ['ann', 'anton'], total: 2, hasMore: false });
    });
  },
);

describe('sessions and runs', () => {
  it('pages through all of them, each once', async () => {
    // The newer client requests further pages by itself.
    const client = await oldClient(jackdaw.url);
    for (let n = 0; n < 60; n++) await jackdaw.post('/api/sessions', {});
    const found: string[] = [];
    let pages = 0;
    for (let cursor: string | undefined; ;) {
      const { resources, nextCursor } = await client.listResources(cursor === undefined ? {} : { cursor });
      found.push(...resources.map(({ uri }) => uri));
      pages++;
      if (nextCursor === undefined) break;
      cursor = nextCursor;
    }
    expect(pages).toBeGreaterThan(2);
    expect(new Set(found).size).toBe(found.length);
    expect(found.filter((uri) => uri.startsWith('jackdaw://sessions/')).length).toBeGreaterThan(60);
    expect(found.some((uri) => uri.startsWith('jackdaw://runs/'))).toBe(true);
    await expect(client.listResources({ cursor: 'x' })).rejects.toMatchObject({ code: -32_602 });
    await client.close();
  });
});

/** Its template's expansion is the URI. */
const SESSION = '用户:张三@例子';
const SESSION_URI = `jackdaw://sessions/${encodeURIComponent(SESSION)}`;

describe('a change of a resource', () => {
  it('is notified to its subscribers, also for a run and its session', async () => {
    const notified: string[] = [];
    const all = gate();
    const hear = (uri: string) => {
      notified.push(uri);
      if (['docs://handbook', SESSION_URI].every((one) => notified.includes(one))) all.open();
    };
    await jackdaw.post('/api/sessions', { id: SESSION });
    const client = await newClient(jackdaw.url);
    client.setNotificationHandler('notifications/resources/updated', ({ params }) => hear(params.uri));
    const { contents } = await client.readResource({ uri: SESSION_URI });
    expect(contents).toMatchObject([{ uri: SESSION_URI, text: expect.stringContaining(SESSION) }]);
    const subscription = await client.listen({ resourceSubscriptions: ['docs://handbook', SESSION_URI] });
    jackdaw.app.get(McpResources).updated('docs://handbook');
    jackdaw.app.get(McpResources).updated('docs://pages/one');
    expect((await jackdaw.chat({ query: 'hi', sessionId: SESSION })).status).toBe(200);
    await all.opened;
    expect(notified).not.toContain('docs://pages/one');
    await subscription.close();
    await client.close();
  });

  it('is notified to a subscribed session until it unsubscribes', async () => {
    const notified: string[] = [];
    const streaming = gate();
    let heard = gate();
    const client = await oldClient(jackdaw.url, { onStream: streaming.open });
    const { ResourceUpdatedNotificationSchema } = await import('@modelcontextprotocol/sdk/types.js');
    client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => {
      notified.push(params.uri);
      heard.open();
    });
    await streaming.opened;
    await client.subscribeResource({ uri: 'docs://handbook' });
    await client.subscribeResource({ uri: 'docs://pages/one' });
    await expect(client.subscribeResource({ uri: 'jackdaw://runs/nowhere' })).rejects.toMatchObject({ code: -32_602 });
    const resources = jackdaw.app.get(McpResources);
    resources.updated('docs://handbook');
    await heard.opened;
    await client.unsubscribeResource({ uri: 'docs://handbook' });
    heard = gate();
    resources.updated('docs://handbook');
    resources.updated('docs://pages/one');
    await heard.opened;
    expect(notified).toEqual(['docs://handbook', 'docs://pages/one']);
    await client.close();
  });
});

describe('the example of docs/mcp-server.md', () => {
  it('is in the document as it is compiled, and works as described', async () => {
    const code = readFileSync('test/support/desk.tool.ts', 'utf8').replace("'../../src/index.js'", "'jackdaw'");
    expect(readFileSync('docs/mcp-server.md', 'utf8')).toContain(`\`\`\`ts\n${code}\`\`\`\n`);
    const desk = await startJackdaw({ tools: [Desk] });
    const client = await newClient(desk.url, { sample: () => 'something' });
    expect(await client.callTool({ name: 'point', arguments: {} })).toMatchObject({ content: [{ type: 'image' }] });
    const said = await client.callTool({ name: 'ask', arguments: {} });
    expect(said.structuredContent).toMatchObject({ said: { content: { text: 'something' } } });
    const { contents } = await client.readResource({ uri: 'docs://pages/one' });
    expect(contents).toMatchObject([{ text: '# One, for local', mimeType: 'text/markdown' }]);
    await client.close();
    await desk.stop();
  });
});
