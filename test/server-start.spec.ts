import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { keyHolder } from './support/api-keys.js';
import { type Jackdaw, newFolder, startJackdaw } from './support/jackdaw.js';
import { buildIfStale, killAll, ServerProcess } from './support/process.js';

const ANN = keyHolder('ann', 'default', 'user');
let folder: string;

beforeEach(() => {
  folder = newFolder();
});
afterEach(async () => {
  await killAll();
  rmSync(folder, { recursive: true });
});

describe('the log of the start', () => {
  beforeAll(buildIfStale);

  /** Starts `npm start`'s server. @returns the lines of its log, until the one about the model, and its URL */
  async function start(env: Readonly<Record<string, string>>): Promise<{ lines: readonly string[]; url: string }> {
    const server = ServerProcess.start('dist/main.js', { PORT: '0', DATA_DIR: folder, LOG_LEVEL: 'info', ...env });
    while (!server.lines.some((line) => line.includes('No model is configured'))) {
      await Promise.race([sleep(10), server.ended.then(() => Promise.reject(new Error(server.stderr)))]);
    }
    const lines = server.lines.map((line) => line.replace(/^\[\d\d:\d\d:\d\d\] /, ''));
    return { lines, url: /Jackdaw serves (http:\/\/[\d.]+:\d+)/.exec(lines.join('\n'))?.[1] ?? '' };
  }

  it('is text with level names, and has the address, the console, the documentation, the model and a request', async () => {
    const { lines, url } = await start({ LOG_FORMAT: 'text' });
    expect(lines.slice(lines.indexOf(`INFO: Bootstrap: Jackdaw serves ${url}`) + 1)).toEqual([
      `INFO: Bootstrap: Console: ${url}/console`,
      `INFO: Bootstrap: Documentation: ${url}/docs`,
      'INFO: Bootstrap: Model: provider "offline"',
      `INFO: Bootstrap: Try: curl -s ${url}/api/agent/chat -H 'content-type: application/json' -d '{"query":"What is 6 * 7?"}'`,
      expect.stringMatching(/^WARN: Bootstrap: No model is configured/),
    ]);
  });

  it('is JSON without a terminal, with one line for the address', async () => {
    const { lines, url } = await start({});
    const messages = lines.map((line) => (JSON.parse(line) as { msg: string }).msg);
    expect(messages.filter((message) => message.includes(url))).toEqual([
      `Jackdaw serves ${url}/api/agent/chat with model provider "offline"`,
    ]);
  });

  it('names the address that the server listens on, and the key that a request needs', async () => {
    const { lines, url } = await start({ HOST: '0.0.0.0', API_KEYS: ANN.entry, LOG_FORMAT: 'text' });
    const { port } = new URL(url);
    const log = lines.join('\n');
    expect(log).toContain(`Jackdaw serves http://127.0.0.1:${port} (listening on 0.0.0.0:${port})`);
    expect(log).toContain('Documentation: off (DOCS_ENABLED=true serves it at /docs)');
    expect(log).toContain(`-H "authorization: Bearer $API_KEY"`);
  });
});

describe('the page at /', () => {
  let jackdaw: Jackdaw;
  afterEach(() => jackdaw.stop());

  it('links the documentation and the health, and has a request with the address of the client', async () => {
    jackdaw = await startJackdaw();
    const { url } = jackdaw;
    const response = await fetch(url);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(response.headers.get('content-security-policy')).toContain("default-src 'none'");
    const html = await response.text();
    expect(html).toContain(`curl -s ${url}/api/agent/chat`);
    const links = Array.from(html.matchAll(/(?:href|src)="([^"]+)"/g), ([, link = '']) => link);
    expect(links).toEqual(expect.arrayContaining(['favicon.svg', 'docs', 'docs/json', 'api/agent/health']));
    for (const link of links) expect([link, (await fetch(`${url}/${link}`)).status]).toEqual([link, 200]);
    const icon = await fetch(`${url}/favicon.ico`);
    expect(icon.headers.get('content-type')).toBe('image/svg+xml');
  });

  it('needs no key, and shows that requests do', async () => {
    jackdaw = await startJackdaw({ env: { API_KEYS: ANN.entry } });
    const html = await (await fetch(jackdaw.url)).text();
    expect(html).toContain('authorization: Bearer $API_KEY');
    expect(html).not.toContain('href="docs"');
    expect(html).toContain('DOCS_ENABLED=true');
  });

  it('has no host that a shell would interpret', async () => {
    jackdaw = await startJackdaw({ env: { API_KEYS: ANN.entry } });
    const answer = await jackdaw.app.inject({ method: 'GET', url: '/', headers: { host: '$(id)<b>' } });
    expect(answer.body).toContain('curl -s http://localhost/api');
    expect(answer.body).not.toContain('$(id)');
  });
});
