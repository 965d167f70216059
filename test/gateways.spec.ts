import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createAgent } from '../src/index.js';
import { ConfiguredSecrets, loadConfig, type EnvRecord } from '../src/config/index.js';
import { EmbeddingModel } from '../src/llm/index.js';
import { FakeLlm } from './support/fake-llm.js';
import { newFolder, startJackdaw, type Jackdaw } from './support/jackdaw.js';
import { TestTools } from './support/test.tool.js';

const HEADERS = '{"X-Portkey-Config": "pc-secret-1", "helicone-auth": "Bearer of-the-gateway"}';
const SENT = { 'x-portkey-config': 'pc-secret-1', 'helicone-auth': 'Bearer of-the-gateway' };

let llm: FakeLlm;
let jackdaw: Jackdaw | undefined;
/** The log of all applications: the first one of a process receives it. */
const log: Record<string, unknown>[] = [];
const logStream = { write: (line: string) => void log.push(JSON.parse(line) as Record<string, unknown>) };
beforeAll(async () => void (llm = await FakeLlm.start()));
afterEach(async () => {
  await jackdaw?.stop();
  jackdaw = undefined;
  llm.reset();
  log.length = 0;
});
afterAll(() => llm.close());

async function start(env: EnvRecord): Promise<Jackdaw> {
  jackdaw = await startJackdaw({
    env: { LOG_LEVEL: 'warn', ...env },
    tools: [new TestTools()],
    options: { logStream },
  });
  return jackdaw;
}

const gateway = (more: EnvRecord = {}): EnvRecord => ({
  ...llm.envOf('openai-compatible'),
  LLM_API_KEY: 'sk-gateway-0123456789',
  LLM_MODEL: 'house-model',
  ...more,
});
const azure = () => ({ LLM_PROVIDER: 'azure', AZURE_OPENAI_API_KEY: 'sk-azure-1234', LLM_MODEL: 'prod' });

describe('LLM_HEADERS', () => {
  it.each<[string, () => EnvRecord]>([
    ['an OpenAI-compatible server', () => gateway({ LLM_HEADERS: HEADERS })],
    ['OpenAI', () => ({ ...llm.env, OPENAI_HEADERS: HEADERS })],
    ['OpenAI, as the general variable', () => ({ ...llm.env, LLM_HEADERS: HEADERS })],
    ['Claude', () => ({ ...llm.envOf('anthropic'), LLM_HEADERS: HEADERS })],
    ['Azure', () => ({ ...azure(), AZURE_OPENAI_ENDPOINT: llm.url, AZURE_OPENAI_HEADERS: HEADERS })],
  ])('is sent to %s', async (_name, env) => {
    llm.always({ text: 'fine' });
    const app = await start(env());
    expect((await app.chat({ query: 'x' })).body['result']).toBe('fine');
    expect(llm.envelopes[0]?.headers).toMatchObject(SENT);
  });

  it('is sent with embeddings, and may come from a file', async () => {
    const folder = newFolder();
    writeFileSync(join(folder, 'headers.json'), `${HEADERS}\n`);
    const app = await start(gateway({ LLM_HEADERS_FILE: join(folder, 'headers.json'), EMBEDDING_MODEL: 'embed-1' }));
    await app.app.get(EmbeddingModel, { strict: false }).embed(['tea']);
    expect(llm.embeddings.envelopes[0]?.headers).toMatchObject(SENT);
  });

  it('replaces the header of the key', async () => {
    llm.always({ text: 'fine' });
    const app = await start(gateway({ LLM_HEADERS: '{"Authorization": "Basic Z2F0ZXdheQ=="}' }));
    await app.chat({ query: 'x' });
    expect(llm.envelopes[0]?.headers.authorization).toBe('Basic Z2F0ZXdheQ==');
  });

  it('goes to the address that it belongs to, and to no other', () => {
    const accessOf = (env: EnvRecord) => loadConfig({ env }).config.llm.access as Record<string, { headers?: object }>;
    const both = accessOf({ OPENAI_API_KEY: 'k', OPENAI_HEADERS: '{"x-own": "1"}', LLM_HEADERS: '{"x-any": "2"}' });
    expect([both['openai']?.headers, both['anthropic']?.headers]).toEqual([{ 'x-own': '1' }, undefined]);
    const elsewhere = accessOf({
      LLM_PROVIDER: 'openai',
      LLM_API_KEY: 'k',
      LLM_BASE_URL: 'https://gateway.example/v1',
      OPENAI_API_KEY: 'k',
      OPENAI_HEADERS: '{"x-own": "1"}',
    });
    expect(elsewhere['openai']?.headers).toBeUndefined();
  });

  it.each([
    ['text', 'not JSON'],
    ['list', '["x"]'],
    ['number', '{"x-a": 1}'],
    ['line break', String.raw`{"x-a": "a\nb"}`],
    ['name', '{"x a": "b"}'],
    ['reserved name', '{"Host": "b"}'],
    ['repeated name', '{"x-a": "b", "X-A": "c"}'],
  ])('stops the start with a wrong value, without showing it: %s', (_name, text) => {
    expect(() => loadConfig({ env: { LLM_HEADERS: text } })).toThrow(
      /LLM_HEADERS: its value is not allowed: give a JSON object of headers/,
    );
  });

  it('stops the start with a file that does not exist, or beside the variable', () => {
    expect(() => loadConfig({ env: { LLM_HEADERS_FILE: '/nowhere' } })).toThrow(/LLM_HEADERS_FILE: "\/nowhere" cannot/);
    expect(() => loadConfig({ env: { LLM_HEADERS: HEADERS, LLM_HEADERS_FILE: 'x' } })).toThrow(
      /LLM_HEADERS is set too/,
    );
  });

  it('is an option of the library, where the environment’s headers do not go to another address', async () => {
    llm.always({ text: 'fine' });
    const options = { builtinTools: false, config: { DATA_DIR: newFolder(), OPENAI_HEADERS: '{"x-env": "1"}' } };
    const target = { apiType: 'openai', apiKey: 'sk-1234567890', model: 'm', apiUrl: llm.url };
    for (const llmOptions of [target, { ...target, headers: { 'X-Own': 'own' } }]) {
      const agent = await createAgent({ ...options, llm: llmOptions });
      await agent.chat('x');
      await agent.close();
    }
    expect(llm.envelopes.map(({ headers }) => [headers['x-env'], headers['x-own']])).toEqual([
      [undefined, undefined],
      [undefined, 'own'],
    ]);
  });
});

describe('secrets of a gateway', () => {
  it('are masked in errors and in the log', async () => {
    const message = 'Config pc-secret-1 of "Bearer of-the-gateway" has no key sk-gateway-0123456789.';
    llm.always({ status: 400, body: { error: { message } } });
    const app = await start(gateway({ LLM_HEADERS: HEADERS }));
    const { text } = await app.chat({ query: 'x' });
    expect(text).toContain('Config [redacted] of');
    expect(text + JSON.stringify(log)).not.toMatch(/pc-secret-1|of-the-gateway|0123456789/);
    const { values } = ConfiguredSecrets.of(loadConfig({ env: gateway({ LLM_HEADERS: HEADERS }) }).config);
    expect(values).toEqual(expect.arrayContaining(Object.values(SENT)));
  });

  it('leave messages readable if they have fewer than 8 characters, with a warning at the start', async () => {
    llm.always({ status: 400, body: { error: { message: 'The test text is too long.' } } });
    const app = await start({ ...llm.env, LLM_HEADERS: '{"x-api-key": "long", "x-cache": "1"}' });
    const { text } = await app.chat({ query: 'x' });
    expect(text).toContain('The test text is too long.');
    const warnings = log.map(({ msg }) => String(msg)).filter((line) => line.includes('8 characters'));
    expect(warnings).toEqual([
      expect.stringMatching(/^The API key of openai has fewer than 8 characters.*not masked/),
      expect.stringMatching(/^The header x-api-key of openai has fewer than 8 characters/),
    ]);
  });
});

describe('a stack trace of a gateway', () => {
  const python = [
    'litellm.APIError: the deployment is gone',
    'Traceback (most recent call last):',
    '  File "/usr/lib/python3.13/site-packages/litellm/main.py", line 512, in acompletion',
    '    response = await init_response',
    '               ^^^^^^^^^^^^^^^^^^^',
    'openai.InternalServerError: the deployment is gone',
  ];
  it.each<[string, string, string]>([
    ['of Python', python.join('\n'), 'litellm.APIError: the deployment is gone.'],
    ['of Python, alone', python.slice(1).join('\n'), 'openai.InternalServerError: the deployment is gone.'],
    ['of Python, encoded twice', python.join(String.raw`\n`), 'litellm.APIError: the deployment is gone.'],
    [
      'of JavaScript',
      'TypeError: no route\n    at route (file:///app/dist/router.js:10:5)\n    at async main (/app/dist/main.js:1:1)',
      'TypeError: no route.',
    ],
    [
      'of Java',
      'java.lang.IllegalStateException: no route\n\tat com.acme.Router.route(Router.java:10)\n\t... 12 more',
      'java.lang.IllegalStateException: no route.',
    ],
    [
      'without one, of such a line',
      'at least one message is required (in messages)',
      'at least one message is required',
    ],
    ['with paths only', 'Cannot load /srv/gateway/models/a.py:12 or C:\\app\\b.js', 'Cannot load [path] or [path].'],
    [
      'without one',
      'POST /v1/chat/completions: see\nhttps://a.example/docs/b.html',
      'see https://a.example/docs/b.html.',
    ],
  ])('%s goes to the log, and its message to the caller', async (_name, message, line) => {
    llm.always({ status: 500, body: { error: { message } } });
    const app = await start(gateway());
    const { text } = await app.chat({ query: 'x' });
    expect(text).toContain(line);
    expect(text).not.toMatch(/site-packages|\/app\/|router\.js|Router\.java|Traceback|\/srv|more/);
    const places = /site-packages|router\.js|Router\.java|\/srv\/gateway/;
    const logged = log.map(({ msg }) => String(msg)).filter((one) => one.includes('sent details with its error'));
    expect(logged.map((one) => places.exec(one)?.[0])).toEqual(places.test(message) ? [places.exec(message)![0]] : []);
  });
});
