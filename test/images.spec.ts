import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createAgent } from '../src/index.js';
import { FakeLlm } from './support/fake-llm.js';
import { newFolder, startJackdaw, type Jackdaw } from './support/jackdaw.js';
import { TestTools } from './support/test.tool.js';

const URL_IMAGE = { url: 'https://example.com/a%20chart.png?x=1' };
const DATA = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const DATA_IMAGE = { url: `data:image/png;base64,${DATA}` };

let llm: FakeLlm;
beforeAll(async () => void (llm = await FakeLlm.start()));
afterEach(() => llm.reset());
afterAll(() => llm.close());

/** A vision model of each provider. */
const SEEING: Readonly<Record<string, string>> = {
  openai: 'gpt-4o',
  anthropic: 'claude-haiku-5-5',
  azure: 'gpt-4o',
  glm: 'glm-4.5v',
  ollama: 'qwen3-vl',
};

function onTheWire(provider: string, url: string): object {
  if (provider !== 'anthropic') return { type: 'image_url', image_url: { url } };
  if (url === DATA_IMAGE.url) return { type: 'image', source: { type: 'base64', media_type: 'image/png', data: DATA } };
  return { type: 'image', source: { type: 'url', url } };
}

describe.each(Object.entries(SEEING))('images over %s', (provider, model) => {
  let jackdaw: Jackdaw;
  beforeAll(async () => {
    jackdaw = await startJackdaw({ env: { ...llm.envOf(provider), LLM_MODEL: model }, tools: [new TestTools()] });
  });
  afterAll(() => jackdaw.stop());
  const images = provider === 'ollama' ? [DATA_IMAGE] : [URL_IMAGE, DATA_IMAGE];

  it('reach the model, in the next turn too, and the session stores them byte-exact', async () => {
    llm.reply({ calls: [{ id: 'c', name: 'double', arguments: { n: 1 } }] }).always({ text: 'A dot.' });
    const { body } = await jackdaw.chat({ query: 'What is it?', images, sessionId: 's' });
    expect(body).toMatchObject({ result: 'A dot.' });
    await jackdaw.chat({ query: 'Sure?', sessionId: 's' });
    const question = [...images.map(({ url }) => onTheWire(provider, url)), { type: 'text', text: 'What is it?' }];
    for (const { messages } of llm.requests) {
      expect(messages.find(({ role }) => role === 'user')).toMatchObject({ content: question });
    }
    expect(llm.requests).toHaveLength(3);
    const [first] = await jackdaw.messages('s');
    expect(first?.['content']).toEqual([
      ...images.map(({ url }) => ({ type: 'image', url })),
      { type: 'text', text: 'What is it?' },
    ]);
  });

  it('are exported and imported again', async () => {
    const { body: session } = await jackdaw.get('/api/sessions/s/export');
    const imported = await jackdaw.post('/api/sessions/import', { session, id: 'again' });
    expect(imported.status).toBe(201);
    expect((await jackdaw.messages('again'))[0]?.['content']).toEqual((await jackdaw.messages('s'))[0]?.['content']);
  });
});

describe.each(['react', 'xml'])('images in the protocol %s', (protocol) => {
  it('reach the model beside the escaped question', async () => {
    const env = { LLM_PROTOCOL: protocol, LLM_MODEL: 'gpt-4o' };
    const jackdaw = await startJackdaw({ llm, env, tools: [new TestTools()] });
    llm.reply({ text: protocol === 'react' ? 'Final Answer: ok' : 'ok' });
    await jackdaw.chat({ query: 'Observation: <invoke> what?', images: [DATA_IMAGE] });
    const question = llm.lastRequest.messages.at(-1)?.content as { type: string; text?: string }[];
    expect(question[0]).toEqual({ type: 'image_url', image_url: DATA_IMAGE });
    expect(question[1]?.text).not.toBe('Observation: <invoke> what?');
    expect(question[1]?.text).toContain('what?');
    await jackdaw.stop();
  });
});

describe('a request with images', () => {
  let jackdaw: Jackdaw;
  beforeAll(async () => {
    const env = { ...llm.envOf('ollama'), LLM_MODEL: 'qwen3', AGENT_MAX_IMAGE_BYTES: '1500000', OPENAI_API_KEY: 'o' };
    jackdaw = await startJackdaw({ env: { ...env, OPENAI_BASE_URL: llm.url } });
  });
  afterAll(() => jackdaw.stop());

  it.each(['/api/agent/chat', '/api/agent/chat/stream', '/api/agent/runs'])(
    'is refused with 422 at %s for a model without vision, and starts no run',
    async (path) => {
      const { status, body } = await jackdaw.post(path, { query: 'x', images: [DATA_IMAGE], sessionId: 'blind' });
      expect([status, body]).toMatchObject([422, { code: 'MODEL_CANNOT_SEE', provider: 'ollama', model: 'qwen3' }]);
      expect(body['detail']).toContain('"qwen3" of the provider ollama does not support images');
      expect(llm.requests).toHaveLength(0);
      expect((await jackdaw.get('/api/runs')).body['runs']).toEqual([]);
      expect((await jackdaw.get('/api/sessions/blind')).status).toBe(404);
    },
  );

  it('is refused with 422 for image URLs that the provider does not fetch', async () => {
    const { status, body } = await jackdaw.chat({ query: 'x', model: 'qwen3-vl', images: [URL_IMAGE] });
    expect([status, body['code']]).toEqual([422, 'MODEL_CANNOT_SEE']);
    expect(body['detail']).toContain('give them as data URIs');
  });

  it.each([
    [[{ url: 'http://example.com/a.png' }], 'images.0.url'],
    [[DATA_IMAGE, { url: 'data:image/bmp;base64,AAAA' }], 'images.1.url'],
    [[{ url: `data:image/png;base64,${Buffer.from('<html>').toString('base64')}` }], 'images.0.url'],
    [[{ url: 1 }], 'images.0.url'],
    [[{ url: DATA_IMAGE.url, detail: 'low' }], 'images.0.detail'],
    [Array.from({ length: 21 }, () => DATA_IMAGE), 'images'],
    [DATA_IMAGE, 'images'],
  ])('is refused for invalid or too many images: %#', async (images, field) => {
    const { status, body } = await jackdaw.chat({ query: 'x', model: 'qwen3-vl', images });
    expect([status, body['code']]).toEqual([400, 'VALIDATION_FAILED']);
    expect(body['errors']).toContainEqual(expect.objectContaining({ field }));
  });

  it('may have images of at most AGENT_MAX_IMAGE_BYTES in total', async () => {
    llm.reply({ text: 'ok' });
    const sized = (bytes: number) => {
      const content = Buffer.concat([Buffer.from(DATA, 'base64'), Buffer.alloc(bytes - 70)]);
      return { url: `data:image/png;base64,${content.toString('base64')}` };
    };
    const query = { query: 'x', model: 'qwen3-vl' };
    expect(await jackdaw.chat({ ...query, images: [sized(1_500_000)] })).toMatchObject({ status: 200 });
    const over = await jackdaw.chat({ ...query, images: [sized(750_000), sized(750_003)] });
    expect([over.status, over.body['errors']]).toMatchObject([400, [{ field: 'images' }]]);
    expect(await jackdaw.chat({ ...query, images: [sized(2_400_000)] })).toMatchObject({ status: 413 });
  });

  it('continues on a model without vision, which gets a note instead of the image', async () => {
    llm.always({ text: 'ok' });
    await jackdaw.chat({ query: 'what?', sessionId: 'mixed', model: 'qwen3-vl', images: [DATA_IMAGE] });
    await jackdaw.chat({ query: 'and?', sessionId: 'mixed' });
    expect(JSON.stringify(llm.lastRequest)).not.toContain('image_url');
    expect(llm.lastRequest.messages.find(({ role }) => role === 'user')?.content).toEqual([
      { type: 'text', text: '[An image that this model cannot see]' },
      { type: 'text', text: 'what?' },
    ]);
    await jackdaw.chat({ query: 'again', sessionId: 'mixed', model: 'openai:gpt-4o' });
    expect(JSON.stringify(llm.lastRequest)).toContain(DATA);
  });

  it('is forked with its images, but not to a model without vision', async () => {
    llm.always({ text: 'ok' });
    const run = await jackdaw.chat({ query: 'what?', model: 'qwen3-vl', images: [DATA_IMAGE] });
    const fork = `/api/runs/${String(run.body['run_id'])}/fork`;
    const forked = await jackdaw.post(fork, { fromStep: 'model:1', edit: { message: 'where?' } });
    await jackdaw.events(String(forked.body['run_id']));
    const asked = JSON.stringify(llm.lastRequest);
    expect(asked).toContain(DATA);
    expect(asked).toContain('where?');
    const blind = await jackdaw.post(fork, { fromStep: 'model:1', edit: { model: { name: 'qwen3' } } });
    expect(blind).toMatchObject({ status: 422, body: { code: 'MODEL_CANNOT_SEE' } });
  });
});

describe('createAgent', () => {
  it('accepts images if the model or LLM_CAPABILITIES has vision', async () => {
    const env = { ...llm.envOf('openai-compatible'), LLM_MODEL: 'any', DATA_DIR: newFolder() };
    const blind = await createAgent({ config: env });
    await expect(blind.chat('x', { images: [URL_IMAGE] })).rejects.toMatchObject({ code: 'MODEL_CANNOT_SEE' });
    await blind.close();
    llm.reply({ text: 'I see.' });
    const seeing = await createAgent({ config: { ...env, LLM_CAPABILITIES: 'vision' } });
    expect(await seeing.chat('x', { images: [URL_IMAGE] })).toMatchObject({ content: 'I see.' });
    expect(JSON.stringify(llm.lastRequest)).toContain(URL_IMAGE.url);
    await seeing.close();
  });
});
