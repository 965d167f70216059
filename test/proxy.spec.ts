import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FakeLlm } from './support/fake-llm.js';
import { ForwardProxy } from './support/forward-proxy.js';
import { type Jackdaw, startJackdaw } from './support/jackdaw.js';
import { CountingServer } from './support/mcp/counting-server.js';

let proxy: ForwardProxy;
let llm: FakeLlm;
let jackdaw: Jackdaw | undefined;

beforeEach(async () => {
  proxy = await ForwardProxy.start();
  llm = await FakeLlm.start();
});
afterEach(async () => {
  await jackdaw?.stop();
  jackdaw = undefined;
  await llm.close();
  await proxy.close();
});

/** An address that only the proxy can resolve. */
const behindProxy = () => llm.url.replace('127.0.0.1', 'model.example');

describe('the proxies of the environment', () => {
  it('carry requests to providers, with their credentials', async () => {
    proxy.credentials = 'user:pass-word';
    const env = { HTTP_PROXY: proxy.url, OPENAI_BASE_URL: behindProxy() };
    jackdaw = await startJackdaw({ llm, env });
    llm.reply({ text: 'through the proxy' });
    expect((await jackdaw.chat({ query: 'x' })).body).toMatchObject({ result: 'through the proxy' });
    expect(proxy.seen).toEqual([`POST ${behindProxy()}/responses`]);
  });

  it('leave out this machine and the hosts of NO_PROXY', async () => {
    const env = { http_proxy: proxy.url, no_proxy: 'model.example' };
    jackdaw = await startJackdaw({ llm, env });
    llm.reply({ text: 'direct' });
    expect((await jackdaw.chat({ query: 'x' })).body).toMatchObject({ result: 'direct' });
    await jackdaw.stop();
    jackdaw = await startJackdaw({ llm, env: { ...env, OPENAI_BASE_URL: behindProxy() } });
    expect((await jackdaw.chat({ query: 'x' })).body).toMatchObject({ code: 'MODEL_UNREACHABLE' });
    expect(proxy.seen).toEqual([]);
  });

  it('refuse a call by their status, without the password in any message', async () => {
    proxy.credentials = 'user:right-password';
    const { url } = proxy;
    const wrong = url.replace('right-password', 'wrong-password');
    jackdaw = await startJackdaw({
      llm,
      env: { HTTPS_PROXY: wrong, HTTP_PROXY: wrong, OPENAI_BASE_URL: 'https://model.example/v1' },
    });
    const { body } = await jackdaw.chat({ query: 'x' });
    expect(body).toMatchObject({ code: 'MODEL_UNREACHABLE', detail: expect.stringContaining('407') });
    expect(JSON.stringify(body)).not.toContain('password');
    expect(proxy.seen).toEqual(['CONNECT model.example:443']);
  });

  it('carry calls to MCP servers', async () => {
    const peer = await CountingServer.start();
    try {
      const url = peer.url.replace('127.0.0.1', 'mcp.example');
      const file = join(await mkdtemp(join(tmpdir(), 'jackdaw-proxy-')), 'mcp.json');
      await writeFile(file, JSON.stringify({ mcpServers: { peer: { url } } }));
      jackdaw = await startJackdaw({ llm, env: { HTTP_PROXY: proxy.url, MCP_SERVERS_FILE: file } });
      await peer.until(({ sessions }) => sessions > 0);
      expect(proxy.seen[0]).toBe(`POST ${url}`);
    } finally {
      await peer.close();
    }
  });
});
