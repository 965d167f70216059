import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { readFileSync } from 'node:fs';
import { withImages } from '../src/index.js';
import { ToolRegistry } from '../src/tool/index.js';
import { callTool } from './support/direct-calls.js';
import { FakeLlm } from './support/fake-llm.js';
import { startJackdaw, type Jackdaw } from './support/jackdaw.js';
import { PictureTools } from './support/picture.tool.js';
import { expectPairs } from './support/waiting-run.js';

const DATA = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const URI = `data:image/png;base64,${DATA}`;
const SHOWN = [{ media_type: 'image/png', bytes: 70, file: 1 }];
const CALL = { id: 'c', name: 'plot', arguments: { of: 'sales' } };
const TEXT = '{"of":"sales","mean":7}';
const NOTE = '[An image that this model cannot see]';

let llm: FakeLlm;
beforeAll(async () => void (llm = await FakeLlm.start()));
afterEach(() => llm.reset());
afterAll(() => llm.close());

function start(env: Readonly<Record<string, string>>): Promise<Jackdaw> {
  return startJackdaw({ env, tools: [new PictureTools()] });
}

/** The messages of the last request behind the tool call. */
function resultOnTheWire(count = 2): unknown[] {
  const { messages } = llm.lastRequest;
  const called = messages.findIndex(({ role }) => role === 'assistant');
  const sent = messages.slice(called + 1, called + 1 + count);
  // Marks of the provider's cache are not part of the content.
  return JSON.parse(
    JSON.stringify(sent, (key, value: unknown) => (key === 'cache_control' ? undefined : value)),
  ) as unknown[];
}

const BY_OPENAI = [
  { role: 'tool', tool_call_id: 'c', content: TEXT },
  {
    role: 'user',
    content: [
      { type: 'text', text: '[What tool plot shows, call c]' },
      { type: 'image_url', image_url: { url: URI } },
    ],
  },
];
/** A result of the Responses API has its images itself. */
const BY_RESPONSES = [
  { role: 'tool', tool_call_id: 'c', content: TEXT },
  { role: 'user', content: [{ type: 'image_url', image_url: { url: URI } }] },
];
const SOURCE = { type: 'base64', media_type: 'image/png', data: DATA };
const BY_ANTHROPIC = [
  {
    role: 'user',
    content: [
      {
        type: 'tool_result',
        tool_use_id: 'c',
        content: [
          { type: 'text', text: TEXT },
          { type: 'image', source: SOURCE },
        ],
      },
    ],
  },
];
const SEEING: [string, string, object[]][] = [
  ['openai', 'gpt-4o', BY_RESPONSES],
  ['anthropic', 'claude-haiku-5-5', BY_ANTHROPIC],
  ['azure', 'gpt-4o', BY_OPENAI],
  ['glm', 'glm-4.5v', BY_OPENAI],
  ['ollama', 'qwen3-vl', BY_OPENAI],
];

describe.each(SEEING)('an image of a tool over %s', (provider, model, wire) => {
  let jackdaw: Jackdaw;
  beforeAll(async () => void (jackdaw = await start({ ...llm.envOf(provider), LLM_MODEL: model })));
  afterAll(() => jackdaw.stop());

  it('is sent to the model, in the next turn too', async () => {
    llm.reply({ calls: [CALL] }).always({ text: 'A dot.' });
    await jackdaw.chat({ query: 'What is it?', sessionId: 's' });
    expect(resultOnTheWire(wire.length)).toEqual(wire);
    await jackdaw.chat({ query: 'Sure?', sessionId: 's' });
    expect(resultOnTheWire(wire.length)).toEqual(wire);
    const [, , result] = await expectPairs(jackdaw, 's');
    expect(result).toMatchObject({ role: 'tool', content: TEXT, images: [{ type: 'image', url: URI }] });
  });
});

describe.each(['react', 'xml'])('an image of a tool in %s', (protocol) => {
  it('is sent after the result', async () => {
    const jackdaw = await start({ ...llm.env, LLM_PROTOCOL: protocol, LLM_MODEL: 'gpt-4o' });
    const [call, end] =
      protocol === 'react'
        ? ['Action: plot\nAction Input: {"of":"sales"}', 'Final Answer: a dot']
        : [
            '<function_calls><invoke name="plot"><parameter name="of">sales</parameter></invoke></function_calls>',
            'ok',
          ];
    llm.reply({ text: call }, { text: end });
    await jackdaw.chat({ query: 'What is it?' });
    expect(llm.lastRequest.messages.at(-1)).toEqual({
      role: 'user',
      content: [
        { type: 'text', text: expect.stringContaining('"mean":7') },
        { type: 'image_url', image_url: { url: URI } },
      ],
    });
    await jackdaw.stop();
  });
});

describe('an image of a tool', () => {
  let jackdaw: Jackdaw;
  beforeAll(async () => {
    const env = { ...llm.envOf('openai'), LLM_MODEL: 'gpt-4o', AGENT_MAX_IMAGE_BYTES: '100' };
    jackdaw = await start(env);
    jackdaw.app.get(ToolRegistry, { strict: false }).register({
      name: 'two',
      description: 'Shows two, and a link.',
      effect: 'read',
      handler: () => withImages('two', [URI, URI, 'https://a.example/b.png']),
    });
  });
  afterAll(() => jackdaw.stop());

  it('is described in events and answers, and stored once, as a file of the run', async () => {
    llm.reply({ calls: [CALL] }, { text: 'A dot.' });
    const stream = await jackdaw.stream({ query: 'x' });
    const events = await stream.all();
    const completed = events.find(({ event }) => event === 'tool.completed')?.data;
    expect(completed).toMatchObject({ result: { of: 'sales', mean: 7 }, images: SHOWN });
    const { body } = await jackdaw.get(`/api/runs/${stream.runId}`);
    expect(body['tool_results']).toMatchObject([{ tool: 'plot', images: SHOWN }]);
    expect(JSON.stringify([events, body])).not.toContain(DATA);
    const journal = await jackdaw.get(`/api/runs/${stream.runId}/journal`);
    const steps = journal.body['steps'] as unknown as { name: string; result: unknown }[];
    expect(steps.find(({ name }) => name === 'tool:1:1')?.result).toMatchObject({ images: ['file:1'] });
    expect(JSON.stringify(journal.body)).not.toContain(DATA);
    const file = await fetch(`${jackdaw.url}/api/runs/${stream.runId}/files/1`);
    expect(file.headers.get('content-type')).toBe('image/png');
    expect(Buffer.from(await file.arrayBuffer()).toString('base64')).toBe(DATA);
  });

  it('is limited to AGENT_MAX_IMAGE_BYTES per result and in total: later images replace earlier ones', async () => {
    llm.reply({ calls: [CALL] }, { calls: [{ id: 'd', name: 'two', arguments: {} }] }, { text: 'ok' });
    const { body } = await jackdaw.chat({ query: 'x', sessionId: 'room', includeDetails: true });
    expect(body['tool_results']).toMatchObject([
      { success: true, images: SHOWN },
      { success: true, images: [{ ...SHOWN[0], file: 2 }, { url: 'https://a.example/b.png' }], images_left_out: 1 },
    ]);
    const results = (await jackdaw.messages('room')).filter(({ role }) => role === 'tool');
    expect(results).toMatchObject([
      { content: `${TEXT}\n[An image that was shown here made room for later ones]` },
      {
        content: 'two\n[Not shown, as too many, too large or unreadable: 1 image]',
        images: [{ url: URI }, { type: 'image' }],
      },
    ]);
    expect(results[0]).not.toHaveProperty('images');
    expect(JSON.stringify(llm.lastRequest).split(DATA)).toHaveLength(2);
  });

  it('is exported and imported again', async () => {
    llm.reply({ calls: [CALL] }, { text: 'ok' });
    await jackdaw.chat({ query: 'x', sessionId: 'original' });
    const { body: session } = await jackdaw.get('/api/sessions/original/export');
    expect((await jackdaw.post('/api/sessions/import', { session, id: 'copy' })).status).toBe(201);
    const imagesOf = async (id: string) => (await jackdaw.messages(id)).map(({ images }) => images);
    expect(await imagesOf('copy')).toEqual(await imagesOf('original'));
    expect((await imagesOf('copy'))[2]).toEqual([{ type: 'image', url: URI }]);
    const forged = JSON.parse(JSON.stringify(session).replace(URI, 'http://a.example/b.png')) as unknown;
    expect((await jackdaw.post('/api/sessions/import', { session: forged, id: 'forged' })).status).toBe(400);
  });

  it('is described to the caller of a direct call', async () => {
    const { body } = await callTool(jackdaw, 'plot', { arguments: { of: 'x' } });
    expect(body).toMatchObject({ success: true, result: { of: 'x', mean: 7 }, images: SHOWN });
  });
});

describe('a model without vision', () => {
  it('receives a note instead of an image, and another model receives the image later', async () => {
    const env = { ...llm.envOf('ollama'), LLM_MODEL: 'qwen3', OPENAI_API_KEY: 'o', OPENAI_BASE_URL: llm.url };
    const jackdaw = await start(env);
    llm.reply({ calls: [CALL] }).always({ text: 'ok' });
    await jackdaw.chat({ query: 'What is it?', sessionId: 's' });
    expect(llm.lastRequest.messages.at(-1)).toMatchObject({ role: 'tool', content: `${TEXT}\n${NOTE}` });
    await jackdaw.chat({ query: 'and?', sessionId: 's', model: 'openai:gpt-4o' });
    expect(resultOnTheWire()).toMatchObject([{ role: 'tool', content: TEXT }, BY_RESPONSES[1]!]);
    await jackdaw.stop();
  });
});

describe('docs/tools.md', () => {
  it('contains the tool of these tests', () => {
    const code = readFileSync('test/support/picture.tool.ts', 'utf8').replaceAll('../../src/index.js', 'jackdaw');
    expect(readFileSync('docs/tools.md', 'utf8')).toContain(`\`\`\`ts\n${code}\`\`\`\n`);
  });
});
