import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { EventStream } from './support/event-stream.js';
import { FakeLlm } from './support/fake-llm.js';
import { buildIfStale } from './support/process.js';
import { SnippetFolder, snippetsOf } from './support/snippets.js';

const SNIPPETS = snippetsOf('README.md');
const [APPROVALS = '', ...MORE_APPROVALS] = snippetsOf('docs/approvals.md');

/** The snippets run as files of a reader: compiled, importing the package by its name. */
describe('the code in the README and in docs/approvals.md', () => {
  let llm: FakeLlm;
  let folder: SnippetFolder;

  beforeAll(async () => {
    buildIfStale();
    llm = await FakeLlm.start();
    folder = new SnippetFolder();
  });

  afterAll(async () => {
    await llm.close();
    folder.remove();
  });

  function environment(): NodeJS.ProcessEnv {
    return {
      PATH: process.env['PATH'],
      JACKDAW_DATA_DIR: join(folder.path, 'data'),
      PORT: '0',
      ...llm.env,
    };
  }

  it('consists of five snippets', () => {
    expect([SNIPPETS.length, MORE_APPROVALS.length]).toEqual([3, 1]);
  });

  async function start(code = '', env = {}): Promise<{ server: ChildProcess; url: string }> {
    const server = spawn(process.execPath, [await folder.compile(code)], {
      env: { ...environment(), ...env },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    return { server, url: await listening(server.stdout) };
  }

  it('serves the first tool without a model', async () => {
    const { server, url } = await start(SNIPPETS[0], { LLM_PROVIDER: 'offline' });
    for (const query of ['What is the weather in Oslo?', '调用 weather Oslo']) {
      expect(await post(`${url}/api/agent/chat`, { query })).toMatchObject({ result: 'Sunny in Oslo, 24 °C' });
    }
    server.kill('SIGTERM');
    expect(await once(server, 'exit')).toEqual([0, null]);
  });

  it('serves the first tool', async () => {
    llm.reply({ calls: [{ name: 'weather', arguments: { input: 'Oslo' } }] });
    llm.reply({ text: 'It is sunny.' });
    const { server, url } = await start(SNIPPETS[0]);
    expect(await post(`${url}/api/tools/weather/call`, { arguments: { input: 'Oslo' } })).toMatchObject({
      result: 'Sunny in Oslo, 24 °C',
    });
    const answer = await post(`${url}/api/agent/chat`, { query: 'How is the weather in Oslo?', includeDetails: true });
    expect(answer).toMatchObject({
      result: 'It is sunny.',
      tool_results: [{ tool: 'weather', success: true, result: 'Sunny in Oslo, 24 °C' }],
    });
    server.kill('SIGTERM');
    expect(await once(server, 'exit')).toEqual([0, null]);
  });

  it('waits for a person, twice', async () => {
    llm.reply({ calls: [{ name: 'pay', arguments: { amount: 500 } }] });
    llm.reply({ text: 'Paid.' });
    const { server, url } = await start(APPROVALS);
    const asked = await post(`${url}/api/agent/chat`, { query: 'Pay my bill.' });
    const run = `${url}/api/runs/${String(asked['run_id'])}`;
    expect(asked).toMatchObject({ status: 'waiting', waiting: [{ kind: 'approval', tool: 'pay' }] });
    await post(`${run}/approve`, { arguments: { amount: 50 } });
    await (await EventStream.open(`${run}/events`)).all();
    expect(await post(`${run}/input`, { value: 'travel' })).toMatchObject({ run_id: asked['run_id'] });
    const events = await (await EventStream.open(`${run}/events`)).all();
    expect(events.map(({ data }) => ('result' in data ? data.result : undefined)).filter(Boolean)).toEqual([
      `paid 50 from travel, reference ${String(asked['run_id'])}:tool:1:1`,
      'Paid.',
    ]);
    server.kill('SIGTERM');
    await once(server, 'exit');
  });

  it('adds a tool to a Nest application', async () => {
    llm.reply({ calls: [{ name: 'count', arguments: { input: 'lamps' } }] }, { text: 'Seven.' });
    expect(await lastLineOf(`${SNIPPETS[1]}\n${HOST}`)).toBe('Seven.');
    expect(llm.lastRequest.messages.at(-1)).toMatchObject({ role: 'tool', content: '7 of lamps' });
  });

  it('asks an agent from a script', async () => {
    llm.reply({ calls: [{ name: 'calculator', arguments: { expression: '6 * 7' } }] });
    llm.reply({ text: '42' });
    expect(await lastLineOf(SNIPPETS[2])).toBe('42');
  });

  /** The last line that a program prints: a warning about a slow disk may precede it. */
  async function lastLineOf(code = ''): Promise<string | undefined> {
    const { stdout } = await promisify(execFile)(process.execPath, [await folder.compile(code)], {
      env: environment(),
    });
    return stdout.trim().split('\n').at(-1);
  }
});

/** Starts the application of the module's snippet and asks its agent. */
const HOST = `
import { NestFactory } from '@nestjs/core';
import { AgentService } from 'jackdaw';

const app = await NestFactory.createApplicationContext(AppModule, { logger: ['error'] });
const ann = { id: 'ann', tenant: 'default', roles: ['user'] };
console.log((await app.get(AgentService).chat(ann, { query: 'How many lamps?' })).result);
await app.close();
`;

async function post(url: string, body: unknown): Promise<Record<string, unknown>> {
  const headers = { 'content-type': 'application/json' };
  const reply = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
  return (await reply.json()) as Record<string, unknown>;
}

/** The address that the server's log names. */
async function listening(log: NodeJS.ReadableStream): Promise<string> {
  for await (const chunk of log) {
    const url = /Jackdaw serves (http:\/\/[\d.]+:\d+)/.exec(String(chunk))?.[1];
    if (url) return url;
  }
  throw new Error('The server ended before it listened.');
}
