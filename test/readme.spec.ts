import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { transform } from '@swc/core';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { FakeLlm } from './support/fake-llm.js';
import { buildIfStale } from './support/process.js';

const README = readFileSync('README.md', 'utf8');
const SNIPPETS = [...README.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code = '']) => code);

/** The snippets run as a reader's files would: compiled, importing the package by its name. */
describe('the code in the README', () => {
  let llm: FakeLlm;
  let folder: string;

  beforeAll(async () => {
    buildIfStale();
    llm = await FakeLlm.start();
    // Inside the package, so that its own name resolves to it.
    folder = mkdtempSync(join(process.cwd(), 'dist', 'readme-'));
  }, 120_000);

  afterAll(async () => {
    await llm.close();
    rmSync(folder, { recursive: true, force: true });
  });

  async function compile(index: number): Promise<string> {
    const { code } = await transform(SNIPPETS[index] ?? '', {
      jsc: {
        target: 'es2023',
        parser: { syntax: 'typescript', decorators: true },
        transform: { legacyDecorator: true, decoratorMetadata: true },
      },
      module: { type: 'es6' },
    });
    const file = join(folder, `snippet-${index}.mjs`);
    writeFileSync(file, code);
    return file;
  }

  function environment(): NodeJS.ProcessEnv {
    return {
      PATH: process.env['PATH'],
      DATA_DIR: join(folder, 'data'),
      PORT: '0',
      LLM_PROVIDER: 'openai',
      OPENAI_API_KEY: 'test',
      OPENAI_BASE_URL: llm.url,
    };
  }

  it('has both snippets', () => {
    expect(SNIPPETS).toHaveLength(2);
  });

  it('serves the first tool', async () => {
    llm.reply({ calls: [{ name: 'weather', arguments: { input: 'Oslo' } }] });
    llm.reply({ text: 'It is sunny.' });
    const server = spawn(process.execPath, [await compile(0)], {
      env: environment(),
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const url = await listening(server.stdout);
    const response = await fetch(`${url}/api/agent/chat`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query: 'How is the weather in Oslo?', includeDetails: true }),
    });
    expect(await response.json()).toMatchObject({
      result: 'It is sunny.',
      tool_results: [{ tool: 'weather', success: true, result: 'Sunny in Oslo, 24 °C' }],
    });
    server.kill('SIGTERM');
    expect(await once(server, 'exit')).toEqual([0, null]);
  }, 30_000);

  it('asks an agent from a script', async () => {
    llm.reply({ calls: [{ name: 'calculator', arguments: { expression: '6 * 7' } }] });
    llm.reply({ text: '42' });
    const { stdout } = await promisify(execFile)(process.execPath, [await compile(1)], { env: environment() });
    expect(stdout.trim()).toBe('42');
  }, 30_000);
});

/** The address that the server's log names. */
async function listening(log: NodeJS.ReadableStream): Promise<string> {
  for await (const chunk of log) {
    const url = /Jackdaw serves (http:\/\/[\d.]+:\d+)/.exec(String(chunk))?.[1];
    if (url) return url;
  }
  throw new Error('The server ended before it listened.');
}
