import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { EventStream } from './support/event-stream.js';
import { FakeLlm } from './support/fake-llm.js';
import { buildIfStale } from './support/process.js';
import { SnippetFolder, snippetsOf } from './support/snippets.js';

const SNIPPETS = snippetsOf('README.md');

/** The snippets run as files of a reader: compiled, importing the package by its name. */
describe('the code in the README', () => {
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

  const compile = (index: number) => folder.compile(SNIPPETS[index] ?? '');

  function environment(): NodeJS.ProcessEnv {
    return {
      PATH: process.env['PATH'],
      DATA_DIR: join(folder.path, 'data'),
      PORT: '0',
      ...llm.env,
    };
  }

  it('contains three snippets', () => {
    expect(SNIPPETS).toHaveLength(3);
  });

  async function start(index: number): Promise<{ server: ChildProcess; url: string }> {
    const server = spawn(process.execPath, [await compile(index)], {
      env: environment(),
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    return { server, url: await listening(server.stdout) };
  }

  it('serves the first tool', async () => {
    llm.reply({ calls: [{ name: 'weather', arguments: { input: 'Oslo' } }] });
    llm.reply({ text: 'It is sunny.' });
    const { server, url } = await start(0);
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
    const { server, url } = await start(2);
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

  it('asks an agent from a script', async () => {
    llm.reply({ calls: [{ name: 'calculator', arguments: { expression: '6 * 7' } }] });
    llm.reply({ text: '42' });
    const { stdout } = await promisify(execFile)(process.execPath, [await compile(1)], { env: environment() });
    // A warning about a slow disk may precede it.
    expect(stdout.trim().split('\n').at(-1)).toBe('42');
  });
});

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
