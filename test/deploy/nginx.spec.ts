import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request, type RequestOptions } from 'node:https';
import type { IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { keyHolder } from '../support/api-keys.js';
import { selfSignedCertificate } from '../support/certificate.factory.js';
import { FakeLlm } from '../support/fake-llm.js';
import { gate, startJackdaw, type Jackdaw } from '../support/jackdaw.js';
import { freePort } from '../support/free-port.js';

const HOST = 'agents.example.com';
const LIMIT = 100_000;
const ANN = keyHolder('ann', 'a', 'user');

/** deploy/nginx.conf with other ports and files. */
function adapted(folder: string, port: number, url: string): string {
  const file = readFileSync('deploy/nginx.conf', 'utf8')
    .replace('127.0.0.1:3000', new URL(url).host)
    .replace('listen 443 ssl', `listen 127.0.0.1:${port} ssl`)
    .replace('/etc/ssl/agents.example.com.pem', join(folder, 'cert.pem'))
    .replace('/etc/ssl/agents.example.com.key', join(folder, 'key.pem'));
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${join(folder, name)};`,
  );
  return `pid ${join(folder, 'pid')};\ndaemon off;\nuser root;\nerror_log stderr;\nevents {}\nhttp {\naccess_log off;\n${temporary.join('\n')}\n${file}}\n`;
}

describe('Jackdaw behind nginx, by deploy/nginx.conf', () => {
  const folder = mkdtempSync(join(tmpdir(), 'jackdaw-nginx-'));
  const { cert, key } = selfSignedCertificate([HOST]);
  let llm: FakeLlm;
  let jackdaw: Jackdaw;
  let nginx: ChildProcess;
  let port: number;

  beforeAll(async () => {
    llm = await FakeLlm.start();
    jackdaw = await startJackdaw({
      llm,
      env: {
        HTTP_PREFIX: '/jackdaw',
        TRUST_PROXY: '127.0.0.1',
        API_KEYS: ANN.entry,
        HTTP_BODY_LIMIT_BYTES: `${LIMIT}`,
        HTTP_LOG: 'on',
        LOG_LEVEL: 'info',
      },
    });
    port = await freePort();
    mkdirSync(join(folder, 'logs'));
    writeFileSync(join(folder, 'cert.pem'), cert);
    writeFileSync(join(folder, 'key.pem'), key);
    writeFileSync(join(folder, 'nginx.conf'), adapted(folder, port, jackdaw.url));
    nginx = spawn('nginx', ['-p', folder, '-c', join(folder, 'nginx.conf')], { stdio: 'inherit' });
    for (;;)
      if (
        await send({ path: '/jackdaw/api/health/live' }).then(
          () => true,
          () => false,
        )
      )
        break;
  });
  afterAll(async () => {
    nginx.kill('SIGTERM');
    await once(nginx, 'exit');
    await jackdaw.stop();
    await llm.close();
    rmSync(folder, { recursive: true });
  });

  async function send(options: RequestOptions, body?: string): Promise<IncomingMessage> {
    const sent = request({
      host: '127.0.0.1',
      port,
      servername: HOST,
      ca: cert,
      headers: { ...ANN.headers, host: HOST, 'content-type': 'application/json' },
      ...options,
    });
    sent.end(body);
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    return response;
  }

  async function text(response: IncomingMessage): Promise<string> {
    let all = '';
    for await (const piece of response) all += String(piece);
    return all;
  }

  const chat = (path: string, query: string) =>
    send({ method: 'POST', path: `/jackdaw/api/agent/${path}` }, JSON.stringify({ query }));

  it('answers below the path, over TLS', async () => {
    llm.reply({ text: 'Hello.' });
    const response = await chat('chat', 'Hi');
    expect(JSON.parse(await text(response))).toMatchObject({ result: 'Hello.' });
    expect((await send({ path: '/jackdaw/console/' })).statusCode).toBe(200);
  });

  it('streams each event when it occurs', async () => {
    const answer = gate();
    llm.reply(
      { calls: [{ name: 'calculator', arguments: { expression: '1 + 1' } }] },
      { gate: answer.opened, text: 'Two.' },
    );
    const response = await chat('chat/stream', 'Count');
    let seen = '';
    for await (const piece of response) {
      seen += String(piece);
      // The answer does not exist yet.
      if (seen.includes('event: tool.completed')) answer.open();
    }
    expect(seen).toContain('event: run.completed');
  });

  it('refuses a large body with the error of Jackdaw', async () => {
    const response = await chat('chat', 'x'.repeat(LIMIT));
    expect(response.statusCode).toBe(413);
    expect(JSON.parse(await text(response))).toMatchObject({ code: 'PAYLOAD_TOO_LARGE' });
  });

  it('passes the credentials on', async () => {
    expect((await send({ path: '/jackdaw/api/agents', headers: { host: HOST } })).statusCode).toBe(401);
  });
});
