import { afterAll, beforeAll, expect, it } from 'vitest';
import { readFileSync } from 'node:fs';
import { describeBrowser } from './support/browser.js';
import { PATIENCE_MS } from './support/patience.js';
import { FakeLlm } from './support/fake-llm.js';
import { FaultProxy } from './support/fault-proxy.js';
import { startJackdaw, type Jackdaw } from './support/jackdaw.js';
import { buildIfStale } from './support/process.js';
import { WebServer } from './support/web-server.js';

/** Runs in the page: a chat, a stream whose connection is cut after its first text, and an error. */
const PROGRAM = (baseUrl: string) => `(async () => {
  const { JackdawClient, JackdawError } = await import('/client.js');
  const jackdaw = new JackdawClient({ baseUrl: '${baseUrl}' });
  const { result } = await jackdaw.chat({ query: 'Hi' });
  const stream = jackdaw.stream({ query: 'count' });
  const texts = [];
  for await (const text of stream.text()) {
    if (texts.push(text) === 1) await cut();
  }
  const { status } = await stream.answer();
  const error = await jackdaw.runs.get('unknown').catch((reason) => reason);
  return { result, text: texts.at(-1), status, error: [error instanceof JackdawError, error.code, error.status] };
})()`;

describeBrowser('jackdaw/client in a page of another origin', (browser) => {
  let llm: FakeLlm;
  let web: WebServer;
  let jackdaw: Jackdaw;
  beforeAll(async () => {
    buildIfStale();
    llm = await FakeLlm.start();
    web = await WebServer.start();
    jackdaw = await startJackdaw({ llm, env: { CORS_ORIGINS: web.url } });
  });
  afterAll(async () => {
    await jackdaw.stop();
    await web.close();
    await llm.close();
  });

  it('chats, streams over a cut connection and reports errors', async () => {
    const proxy = await FaultProxy.start(new URL(jackdaw.url), 80);
    web.on('/client.js', (_request, reply) => {
      reply.writeHead(200, { 'content-type': 'text/javascript' }).end(readFileSync('lib/client.js'));
    });
    web.onAny((_request, reply) => void reply.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Page</h1>'));
    const page = await browser().newPage();
    page.setDefaultTimeout(PATIENCE_MS);
    await page.goto(web.url);
    await page.exposeFunction('cut', () => {
      proxy.become('cut');
      proxy.become('pass');
    });
    llm.reply({ text: 'Hello.' }, { text: 'one two', drip: 200 });
    const outcome = await page.evaluate(PROGRAM(proxy.through(jackdaw.url)));
    expect(outcome).toEqual({
      result: 'Hello.',
      text: 'one two',
      status: 'completed',
      error: [true, 'RUN_NOT_FOUND', 404],
    });
    await page.close();
    await proxy.close();
  });
});
