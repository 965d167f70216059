import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { FakeLlm } from './support/fake-llm.js';
import { type Jackdaw, startJackdaw } from './support/jackdaw.js';

const OPENAI = { LLM_PROVIDER: 'openai', LLM_MODEL: 'gpt-4o' };

let folder: string;
let file: string;
let llm: FakeLlm;
const servers: Jackdaw[] = [];

beforeEach(async () => {
  vi.stubEnv('CI', '');
  folder = mkdtempSync(join(tmpdir(), 'jackdaw-cassette-'));
  file = join(folder, 'server.jsonl');
  llm = await FakeLlm.start();
});
afterEach(async () => {
  vi.unstubAllEnvs();
  for (const server of servers.splice(0)) await server.stop();
  await llm.close();
  rmSync(folder, { recursive: true });
});

/** nestjs-pino writes the lines of all servers of a process to the stream of the first one. */
let log: Jackdaw['log'] | undefined;
let read = 0;

/** The lines of the cassette since the last call. */
function newLines(): string[] {
  const lines = log!.filter(({ context }) => context === 'Cassette').map(({ msg }) => String(msg));
  const fresh = lines.slice(read);
  read = lines.length;
  return fresh;
}

async function start(env: Readonly<Record<string, string>>, provider?: FakeLlm): Promise<Jackdaw> {
  const server = await startJackdaw({
    ...(provider && { llm: provider }),
    env: { ...OPENAI, LLM_CASSETTE: file, LOG_LEVEL: 'info', ...env },
  });
  log ??= server.log;
  servers.push(server);
  return server;
}

async function stop(): Promise<void> {
  await servers.pop()!.stop();
}

async function record(): Promise<void> {
  llm.reply({ text: 'Hello.' });
  const server = await start({}, llm);
  expect((await server.chat({ query: 'Hi' })).body).toMatchObject({ result: 'Hello.' });
  await stop();
  expect(newLines()).toEqual([`Known model calls are answered from, and new ones recorded in, ${file} (LLM_CASSETTE)`]);
}

const replay = (env: Readonly<Record<string, string>> = {}) => start({ LLM_CASSETTE_MODE: 'replay', ...env });

describe('a server with LLM_CASSETTE', () => {
  it('replays the recorded calls without a provider and its key', async () => {
    await record();
    const server = await replay();
    expect((await server.chat({ query: 'Hi' })).body).toMatchObject({ result: 'Hello.' });
    await stop();
    expect(newLines()).toEqual([`Model calls are answered from ${file} (LLM_CASSETTE)`]);
    expect(llm.requests).toHaveLength(1);
  });

  it('answers a request without a line with the differences, and reports the unused line at its end', async () => {
    await record();
    const server = await replay();
    const { body } = await server.chat({ query: 'Bye' });
    expect(JSON.stringify(body)).toMatch(/- user: Hi.*\+ user: Bye/);
    await stop();
    expect(newLines()[1]).toMatch(/^The replay is incomplete\. Model request 1 is not in the cassette/);
  });

  it('replays the calls of the embedding model', async () => {
    const memory = { LONG_TERM_MEMORY: 'on', EMBEDDING_MODEL: 'embed-1', AGENT_MEMORY_ENABLED: 'false' };
    llm.embeddings.mean('tea', 'drink');
    llm.reply(
      { calls: [{ name: 'remember', arguments: { text: 'Ann likes tea.' } }] },
      { calls: [{ name: 'recall', arguments: { query: 'drink' } }] },
      { text: 'Tea.' },
    );
    const server = await start(memory, llm);
    expect((await server.chat({ query: 'Which drink?' })).body).toMatchObject({ result: 'Tea.' });
    await stop();
    const lines = readFileSync(file, 'utf8').split('\n');
    expect(lines.filter((line) => line.includes('"kind":"embedding","model":"openai:embed-1"'))).toHaveLength(2);
    const sent = [llm.requests.length, llm.embeddings.requests.length];
    newLines();
    const replaying = await replay(memory);
    const { body } = await replaying.chat({ query: 'Which drink?', includeDetails: true });
    expect(body).toMatchObject({
      result: 'Tea.',
      tool_results: [{}, { result: { facts: [{ text: 'Ann likes tea.' }] } }],
    });
    await stop();
    expect(newLines()).toEqual([`Model calls are answered from ${file} (LLM_CASSETTE)`]);
    expect([llm.requests.length, llm.embeddings.requests.length]).toEqual(sent);
    writeFileSync(file, lines.filter((line) => !line.includes('"kind":"embedding"')).join('\n'));
    const lacking = await replay(memory);
    await lacking.chat({ query: 'Which drink?' });
    await stop();
    expect(newLines()[1]).toMatch(/The vectors of openai:embed-1 for \["Ann likes tea\."\] are not in the cassette/);
  });

  it('never records in a build', async () => {
    vi.stubEnv('CI', 'true');
    await expect(replay({ LLM_CASSETTE_MODE: 'record' })).rejects.toThrow(`The cassette ${file} does not exist`);
    expect(existsSync(file)).toBe(false);
    vi.stubEnv('CI', '');
    await record();
    vi.stubEnv('CI', 'true');
    const before = readFileSync(file, 'utf8');
    const server = await replay({ LLM_CASSETTE_MODE: 'record' });
    await server.chat({ query: 'Bye' });
    expect(readFileSync(file, 'utf8')).toBe(before);
  });

  it.each([
    [{ LLM_CASSETTE_MODE: 'replay', LLM_CASSETTE: '' }, /LLM_CASSETTE_MODE.*has no effect without LLM_CASSETTE/],
    [{ LLM_CASSETTE_TOOLS: 'recorded', LLM_CASSETTE: '' }, /LLM_CASSETTE_TOOLS.*has no effect without LLM_CASSETTE/],
    [{ LLM_CASSETTE_MODE: 'auto' }, /OPENAI_API_KEY/],
    [{ LLM_CASSETTE_MODE: 'play' }, /LLM_CASSETTE_MODE/],
  ])('refuses %j', async (env, message) => {
    await expect(replay({ ...env })).rejects.toThrow(message);
  });
});
