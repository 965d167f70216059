import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { callTool } from './support/direct-calls.js';
import { startJackdaw, type Jackdaw } from './support/jackdaw.js';
import { ScriptedWeb } from './support/mcp/scripted-web.js';
import { listed, scripted, untilStatus } from './support/mcp/scripted-servers.js';

const OBJECT = { type: 'object', properties: { a: { type: 'string' } } };
const GOOD = listed('good', { icons: null, _meta: 7, execution: 'no', unknown: {} });
/** Definitions with one defect each. */
const DEFECTS: readonly (readonly [object, RegExp])[] = [
  [{ inputSchema: undefined }, /no inputSchema/],
  [{ inputSchema: null }, /inputSchema is null/],
  [{ inputSchema: {} }, /type "object"/],
  [{ inputSchema: [] }, /inputSchema is a list/],
  [{ inputSchema: { anyOf: [OBJECT] } }, /type "object"/],
  [{ inputSchema: { type: 'string' } }, /type "object"/],
  [{ inputSchema: { ...OBJECT, required: null } }, /required/],
  [{ inputSchema: { ...OBJECT, required: [1] } }, /required/],
  [{ inputSchema: { type: 'object', properties: null } }, /properties/],
  [{ inputSchema: { type: 'object', properties: { a: null } } }, /properties/],
  [{ inputSchema: { type: 'object', properties: { a: { type: 'no such' } } } }, /type/],
  [{ outputSchema: null }, /outputSchema is null/],
  [{ outputSchema: { type: 'object', required: 'a' } }, /output/],
  [{ description: null }, /description is null/],
  [{ description: ['a'] }, /description is a list/],
  [{ title: 5 }, /title is of type number/],
  [{ annotations: null }, /annotations are null/],
  [{ annotations: { readOnlyHint: 'yes' } }, /readOnlyHint/],
];
const BAD = DEFECTS.map(([more], n) => listed(`bad_${n}`, more as Record<string, unknown>));
const ENTRIES = [null, 'text', [], { description: 'No name.' }, { name: null }, ...BAD, GOOD];
const RESULTS = {
  kinds: {
    content: [
      { type: 'hologram', data: 'x' },
      { type: 'text', text: null },
      { type: 'text', text: 'read me', annotations: null, _meta: 'odd' },
      { type: 'text', text: 'and me', annotations: { audience: 'all', priority: 'high' } },
      { type: 'image', data: null, mimeType: null },
      { type: 'resource', resource: null },
      { type: 'resource_link', uri: 'note:1', name: null },
      null,
      'plain',
      { text: 'without a kind' },
    ],
    isError: null,
    structuredContent: null,
    _meta: { odd: null },
  },
  empty: { content: null },
  failing: { isError: true, content: [], structuredContent: { code: 'RATE_LIMITED', retry_after: 30 } },
  both: { isError: true, content: [{ type: 'text', text: 'Too many.' }], structuredContent: { code: 'LIMIT' } },
  twice: {
    isError: true,
    content: [{ type: 'text', text: '{ "code": "LIMIT" }' }],
    structuredContent: { code: 'LIMIT' },
  },
};
const CALLED = Object.keys(RESULTS).map((name) => listed(name));
const LISTS = {
  'resources/list': {
    resources: [
      null,
      { uri: 5, name: 'A number' },
      { uri: 'note:1', name: 'A note', description: null, mimeType: 3, size: 'big', annotations: [], title: 'Note' },
    ],
    nextCursor: null,
  },
  'resources/templates/list': {
    resourceTemplates: [{ uriTemplate: null }, { uriTemplate: 'note:{n}', name: 'Notes' }],
  },
  'resources/read': {
    contents: [null, { uri: 'note:1', mimeType: null, text: 'noted', blob: null }, { text: 'more' }],
  },
  'prompts/list': {
    prompts: ['x', { name: 'y', description: null, arguments: [null, { name: 'z', required: 'yes' }] }],
    nextCursor: null,
  },
  'prompts/get': { description: null, messages: [null, { role: 'user', content: { type: 'hologram' } }] },
};

describe.each(['older', 'newest'])('a server of the %s protocol with defective entries', (era) => {
  const modern = era === 'newest';
  let jackdaw: Jackdaw;
  let web: ScriptedWeb;
  beforeAll(async () => {
    web = await ScriptedWeb.start(({ method }) =>
      method === 'tools/list' ? { tools: ENTRIES, nextCursor: null, _meta: null } : undefined,
    );
    const replies = { 'tools/list': { tools: ENTRIES, nextCursor: null, _meta: null }, ...LISTS };
    jackdaw = await startJackdaw({
      options: {
        mcpServers: [
          scripted('listing', { tools: [], content: true, modern, replies }),
          scripted('calling', { tools: CALLED, modern, results: RESULTS }),
          { name: 'web', enabled: true, type: 'http', http: { url: web.url } },
        ],
      },
    });
    await Promise.all(['listing', 'calling', 'web'].map((name) => untilStatus(jackdaw, name)));
  });
  afterAll(async () => {
    await jackdaw.stop();
    await web.close();
  });
  const call = async (tool: string) => (await callTool(jackdaw, `calling__${tool}`)).body;
  const read = async (path: string) => (await jackdaw.get(`/api/mcp/servers/listing/${path}`)).body;

  it.each(['listing', 'web'])('refuses only the defective tools, with the reason: %s', async (name) => {
    const { body } = await jackdaw.get(`/api/mcp/servers/${name}`);
    expect(body).toMatchObject({ status: 'ready', tools: expect.arrayContaining([`${name}__good`]) });
    const refused = body['refused'] as unknown as { tool: string; why: string }[];
    expect(refused.map(({ tool }) => tool).toSorted()).toEqual(
      ['#0', '#1', '#2', '#3', '#4', ...BAD.map(({ name: bad }) => String(bad))].toSorted(),
    );
    for (const [n, [, why]] of DEFECTS.entries())
      expect(refused.find(({ tool }) => tool === `bad_${n}`)).toMatchObject({ why: expect.stringMatching(why) });
  });

  it('loses only the defective resources and prompts, and their defective members', async () => {
    expect(await read('resources')).toMatchObject({
      items: [{ uri: 'note:1', name: 'A note', title: 'Note' }],
      next: null,
    });
    expect(await read('resource-templates')).toMatchObject({ items: [{ uriTemplate: 'note:{n}', name: 'Notes' }] });
    expect(await read('resource?uri=note:1')).toMatchObject({
      items: [{ uri: 'note:1', text: 'noted' }, { text: 'more' }],
    });
    expect(await read('prompts')).toMatchObject({ items: [{ name: 'y', arguments: [{ name: 'z' }] }], next: null });
    const got = await jackdaw.post('/api/mcp/servers/listing/prompt', { name: 'y' });
    expect(got.body).toMatchObject({ items: [{ role: 'user', content: { type: 'hologram' } }] });
  });

  it('returns the usable parts of a result, with notes for the others', async () => {
    const kinds = await call('kinds');
    expect(kinds).toMatchObject({ success: true });
    expect(String(kinds['result']).split('\n')).toEqual([
      '[Content of the unknown kind "hologram", omitted]',
      'read me',
      'and me',
      '[Image, of an unknown type, omitted: it has no data]',
      '[Resource without content]',
      '[Resource note:1]',
      'plain',
      'without a kind',
    ]);
    expect((await call('empty'))['result']).toBe('[No output]');
  });

  it('reports a failure by its structure, unless its text contains the same', async () => {
    expect(await call('failing')).toMatchObject({ success: false, error: '{"code":"RATE_LIMITED","retry_after":30}' });
    expect(await call('both')).toMatchObject({ error: 'Too many.\n{"code":"LIMIT"}' });
    expect(await call('twice')).toMatchObject({ error: '{ "code": "LIMIT" }' });
  });
});
