import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { enhance, withImages, type ChatRequest } from '../src/index.js';
import { createModelRegistry } from '../src/llm/model-registry.factory.js';
import { ToolRegistry } from '../src/tool/index.js';
import { ask, modelOf, CALL_METHODS } from './support/enhanced-calls.js';
import type { FakeReply, FakeRequest } from './support/fake-llm.types.js';
import { FakeLlm } from './support/fake-llm.js';
import { startJackdaw, type Jackdaw } from './support/jackdaw.js';

const JPEG = Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 4, 0, 0, 0xff, 0xd9]).toString('base64');
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const MISLABELLED = { url: `data:image/png;base64,${JPEG}` };
const GOOD = { url: `data:image/png;base64,${PNG}` };
const LINK = { url: 'https://pics.example/a.png' };
const DEAD = 'https://pics.example/dead.png';
const REFUSED: FakeReply = { status: 400, body: { error: { message: 'Error while downloading file' } } };
const NOTE = '[An image that the model’s provider refused is not shown]';

let llm: FakeLlm;
beforeAll(async () => void (llm = await FakeLlm.start()));
afterEach(() => llm.reset());
afterAll(() => llm.close());

const textOf = (request: FakeRequest) => JSON.stringify(request.messages);

/** Refuses each request with this text in it, as providers refuse an image. */
function refuse(text: string, answer: FakeReply = { text: 'fine' }): void {
  llm.always((request) => (textOf(request).includes(text) ? REFUSED : answer));
}

describe.each(['openai', 'anthropic'])('an image over %s', (provider) => {
  let jackdaw: Jackdaw;
  beforeAll(async () => {
    const model = provider === 'openai' ? 'gpt-4o' : 'claude-haiku-5-5';
    jackdaw = await startJackdaw({ env: { ...llm.envOf(provider), LLM_MODEL: model } });
    const register = (name: string, images: string[]) =>
      jackdaw.app.get(ToolRegistry, { strict: false }).register({
        name,
        description: 'Shows.',
        effect: 'read',
        handler: () => withImages('shown', images),
      });
    register('plot', [MISLABELLED.url]);
    register('link', [DEAD]);
  });
  afterAll(() => jackdaw.stop());

  const chat = (query: string, sessionId: string, images?: object[]) =>
    jackdaw.chat({ query, sessionId, ...(images && { images }) });
  const events = async (runId: unknown) => (await jackdaw.events(String(runId))).map(({ data }) => data);

  it('with a wrong label is sent, stored and exported with the right one', async () => {
    llm.always({ text: 'fine' });
    await chat('look', 'label', [MISLABELLED, { url: `DATA:IMAGE/JPG;base64,\n${PNG.replace('==', '')}` }]);
    const sent = textOf(llm.lastRequest);
    expect(sent).toContain(JPEG);
    expect(sent.match(/image\/(?:png|jpe?g)/g)).toEqual(['image/jpeg', 'image/png']);
    const [first] = await jackdaw.messages('label');
    expect(first?.['content']).toMatchObject([{ url: `data:image/jpeg;base64,${JPEG}` }, GOOD, { type: 'text' }]);
    const { body: session } = await jackdaw.get('/api/sessions/label/export');
    const forged = JSON.stringify(session).replace('image/jpeg', 'image/webp');
    await jackdaw.post('/api/sessions/import', { session: JSON.parse(forged) as object, id: 'relabelled' });
    expect((await jackdaw.messages('relabelled'))[0]?.['content']).toEqual(first?.['content']);
    const broken = forged.replace(JPEG, 'PGh0bWw+');
    const refused = await jackdaw.post('/api/sessions/import', { session: JSON.parse(broken) as object, id: 'broken' });
    expect([refused.status, JSON.stringify(refused.body)]).toEqual([400, expect.stringContaining('PNG, JPEG')]);
  });

  it('is sent with the right label if a tool labels it wrongly', async () => {
    llm.reply({ calls: [{ name: 'plot', arguments: {} }] }, { text: 'fine' });
    expect((await chat('plot it', 'tool')).body).toMatchObject({ result: 'fine' });
    expect(textOf(llm.lastRequest)).toContain('image/jpeg');
    expect(textOf(llm.lastRequest)).not.toContain('image/png');
  });

  it('becomes a note if it is in an earlier turn and refused now, and the run reports it', async () => {
    llm.always({ text: 'fine' });
    await chat('look', 'link', [LINK]);
    llm.reset();
    refuse(LINK.url);
    const next = await chat('and what else?', 'link', [GOOD]);
    expect([next.status, next.body['result']]).toEqual([200, 'fine']);
    expect(llm.requests).toHaveLength(2);
    expect(textOf(llm.lastRequest)).toContain(NOTE);
    expect(textOf(llm.lastRequest)).toContain(PNG);
    expect(await events(next.body['run_id'])).toContainEqual({
      type: 'history.repaired',
      session_id: 'link',
      turns: [],
      iteration: 1,
      images: 1,
    });
    const streamed = await jackdaw.stream({ query: 'streamed', sessionId: 'link' });
    expect((await streamed.waitFor('run.completed')).data).toMatchObject({ result: 'fine' });
    // The stored turn stays: the link may work again.
    llm.reset();
    llm.always({ text: 'fine' });
    await chat('once more', 'link');
    expect(textOf(llm.lastRequest)).toContain(LINK.url);
  });

  it('becomes a note if a tool returned it and it is refused, in the session too, and is requested once in a run', async () => {
    llm.reply({ calls: [{ name: 'link', arguments: {} }] }, REFUSED, { calls: [{ name: 'plot', arguments: {} }] });
    refuse(DEAD);
    const { status, body } = await chat('show it', 'dead');
    expect([status, body['result']]).toEqual([200, 'fine']);
    // The first request was refused; its repaired repetition and the second image follow.
    expect(llm.requests).toHaveLength(4);
    expect(textOf(llm.lastRequest)).toContain(JPEG);
    expect(await events(body['run_id'])).toContainEqual(
      expect.objectContaining({ type: 'history.repaired', iteration: 2, images: 1 }),
    );
    const stored = (await jackdaw.messages('dead')).filter(({ role }) => role === 'tool');
    expect(stored).toMatchObject([{ content: `shown\n${NOTE}` }, { content: 'shown', images: [{ type: 'image' }] }]);
    expect((await chat('and?', 'dead')).body).toMatchObject({ result: 'fine' });
    expect(llm.requests).toHaveLength(5);
    // A replay of the recorded replies includes the refusal.
    const fork = await jackdaw.post(`/api/runs/${String(body['run_id'])}/fork`, { fromStep: 'model:3' });
    await jackdaw.events(String(fork.body['run_id']));
    expect(llm.requests).toHaveLength(6);
    expect(textOf(llm.lastRequest)).toContain(NOTE);
  });

  it('that is refused in its own turn fails this turn alone', async () => {
    llm.always({ text: 'fine' });
    await chat('look', 'own', [GOOD]);
    llm.reset();
    refuse(DEAD);
    const failed = await chat('look', 'own', [{ url: DEAD }]);
    expect(failed.body).toMatchObject({ code: 'MODEL_REFUSED' });
    expect(await events(failed.body['run_id'])).not.toContainEqual(
      expect.objectContaining({ type: 'history.repaired' }),
    );
    llm.reset();
    refuse(DEAD);
    expect(await chat('and now?', 'own')).toMatchObject({ status: 200, body: { result: 'fine' } });
    expect(llm.requests).toHaveLength(1);
    expect(textOf(llm.lastRequest)).toContain(NOTE);
    expect(textOf(llm.lastRequest)).toContain(PNG);
  });

  it('is not blamed for an error that another request would have, too', async () => {
    llm.always({ text: 'fine' });
    await chat('look', 'other', [GOOD]);
    llm.reset();
    llm.always({ status: 404, body: { error: { message: 'no such model' } } });
    expect((await chat('and?', 'other')).body).toMatchObject({ code: 'MODEL_REFUSED' });
    for (const request of llm.requests) expect(textOf(request)).toContain(PNG);
    llm.reset();
    llm.always({ status: 400, body: { error: { message: 'a bad day' } } });
    const { body } = await chat('and?', 'other');
    expect(body['detail']).toContain('a bad day');
    expect(llm.requests).toHaveLength(2);
    llm.reset();
    llm.always({ text: 'fine' });
    await chat('and?', 'other');
    expect(textOf(llm.lastRequest)).toContain(PNG);
  });
});

it('an image beyond the limits of the provider is refused before any model call', async () => {
  const jackdaw = await startJackdaw({ env: { ...llm.envOf('anthropic'), LLM_MODEL: 'claude-haiku-5-5' } });
  const bytes = Buffer.from(PNG, 'base64');
  bytes.writeUInt32BE(8001, 16);
  const images = [GOOD, { url: `data:image/png;base64,${bytes.toString('base64')}` }];
  const { status, body } = await jackdaw.chat({ query: 'look', images });
  expect([status, body['code'], body['detail']]).toEqual([
    400,
    'VALIDATION_FAILED',
    expect.stringContaining('images.1.url: it has 8001 x 1 pixels, and the model takes 8000 on a side'),
  ]);
  expect(llm.requests).toHaveLength(0);
  await jackdaw.stop();
});

it('more images than the provider takes in one request are refused before any call', async () => {
  const env = { ...llm.envOf('openai-compatible'), LLM_MODEL: 'mistral-small', LLM_CAPABILITIES: 'vision' };
  const jackdaw = await startJackdaw({ env });
  llm.always({ text: 'fine' });
  const askWith = (count: number) =>
    jackdaw.chat({ query: 'look', sessionId: 'many', images: Array.from({ length: count }, () => GOOD) });
  expect((await askWith(9)).body).toMatchObject({ code: 'VALIDATION_FAILED', errors: [{ field: 'images' }] });
  expect(llm.requests).toHaveLength(0);
  // With the history, the latest images stay.
  for (let turn = 0; turn < 2; turn++) expect((await askWith(6)).status).toBe(200);
  expect(textOf(llm.lastRequest).split(PNG)).toHaveLength(9);
  await jackdaw.stop();
});

describe.each(CALL_METHODS)('an enhanced model asked by %s', (method) => {
  const registry = createModelRegistry();
  afterAll(() => registry.close());
  const asked = (...urls: string[]): ChatRequest => ({
    messages: urls.map((url) => ({ role: 'user', content: [{ type: 'image', url }] })),
  });

  it('reads images as an agent does', async () => {
    const model = enhance(modelOf(registry, llm), [
      { name: 'unused', description: 'd', effect: 'read', handler: () => 1 },
    ]);
    llm.always({ text: 'fine' });
    await ask(model, method, asked('data:image/png;base64,PGh0bWw+', MISLABELLED.url));
    expect(textOf(llm.lastRequest)).toContain(`data:image/jpeg;base64,${JPEG}`);
    expect(textOf(llm.lastRequest)).toContain('An image that cannot be read');
    await expect(ask(model, method, asked('data:image/png;base64,PGh0bWw+'))).rejects.toMatchObject({
      code: 'VALIDATION_FAILED',
    });
    expect(llm.requests).toHaveLength(1);
    llm.reset();
    refuse(LINK.url);
    const { result } = await ask(model, method, asked(LINK.url, GOOD.url));
    expect(result.message.content).toBe('fine');
    expect(llm.requests).toHaveLength(2);
    await expect(ask(model, method, asked(GOOD.url, LINK.url))).rejects.toMatchObject({ code: 'MODEL_REFUSED' });
  });
});
