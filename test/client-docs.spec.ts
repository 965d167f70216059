import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import type { Browser, Page } from 'playwright-core';
import { describeBrowser } from './support/browser.js';
import { PATIENCE_MS } from './support/patience.js';
import { FakeLlm } from './support/fake-llm.js';
import { startJackdaw, type Jackdaw } from './support/jackdaw.js';
import { WaitingTools } from './support/waiting.tool.js';
import { WebServer } from './support/web-server.js';

const FOLDER = 'test/clients';
const isInstalled = existsSync(`${FOLDER}/node_modules/@ai-sdk/react`);
const execute = promisify(execFile);

/** The programs of a page in docs/, written as files beside the packages that they import. */
class Programs {
  private readonly folder = mkdtempSync(join(FOLDER, '.docs-'));
  readonly files = ['ai-sdk', 'langchain', 'openai-agents'].flatMap((page) =>
    [...readFileSync(`docs/${page}.md`, 'utf8').matchAll(/^```(tsx?)\n(.*?)^```$/gms)].map(([, kind, code]) => {
      const file = join(this.folder, `${page}.${kind}`);
      writeFileSync(file, code!);
      return file;
    }),
  );

  /** The file of a page. */
  of(name: string): string {
    return join(this.folder, name);
  }

  /** Runs a program. @returns its output */
  async run(page: string, baseUrl: string): Promise<string> {
    const outfile = this.of(`${page}.mjs`);
    await build({ entryPoints: [this.of(`${page}.ts`)], outfile, format: 'esm', logLevel: 'silent' });
    const env = { PATH: process.env['PATH'], JACKDAW_V1: `${baseUrl}/v1` };
    return (await execute(process.execPath, [outfile], { env })).stdout;
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

describe.skipIf(!isInstalled && !process.env['CI'])('pages of clients in docs/ (npm ci --prefix test/clients)', () => {
  let programs: Programs;
  beforeAll(() => void (programs = new Programs()));
  afterAll(() => programs.remove());

  it('have programs that TypeScript accepts', async () => {
    const options = '--noEmit --strict --skipLibCheck --target es2023 --module esnext --moduleResolution bundler';
    const compiler = `${FOLDER}/node_modules/typescript/bin/tsc`;
    const flags = [
      ...options.split(' '),
      '--jsx',
      'react-jsx',
      '--types',
      'node',
      '--typeRoots',
      'node_modules/@types',
    ];
    const { stdout } = await execute(process.execPath, [compiler, ...flags, ...programs.files]).catch((error) => error);
    expect([stdout, programs.files.length]).toEqual(['', 4]);
  });

  describe('with a model', () => {
    let llm: FakeLlm;
    let jackdaw: Jackdaw;
    beforeAll(async () => {
      llm = await FakeLlm.start();
      jackdaw = await startJackdaw({ llm });
    });
    afterAll(async () => {
      await jackdaw.stop();
      await llm.close();
    });

    it.each([
      ['ai-sdk', 'rain in Oslo'],
      ['langchain', '42\nrain in Oslo\n'],
      ['openai-agents', 'rain in Oslo\n'],
    ])('run %s', async (page, expected) => {
      llm.always(({ messages }) => {
        const last = messages.at(-1)!;
        if (last.role === 'tool') return { text: String(last.content) };
        if (!JSON.stringify(last.content).includes('weather')) return { text: '42' };
        return { calls: [{ name: 'weather', arguments: { city: 'Oslo' } }] };
      });
      expect(await programs.run(page, jackdaw.url)).toBe(expected);
    });
  });
});

describeBrowser('the page with useChat', (browser) => {
  let llm: FakeLlm;
  let web: WebServer;
  let jackdaw: Jackdaw;
  let programs: Programs;
  let page: Page;
  const tools = new WaitingTools();

  beforeAll(async () => {
    programs = new Programs();
    llm = await FakeLlm.start();
    web = await WebServer.start();
    jackdaw = await startJackdaw({ llm, tools: [tools], env: { CORS_ORIGINS: web.url } });
    page = await open(browser());
  });
  afterAll(async () => {
    await jackdaw.stop();
    await web.close();
    await llm.close();
    programs.remove();
  });

  /** Serves the component of the page, with the address of the server. */
  async function open(chromium: Browser): Promise<Page> {
    const contents = [
      `import { createElement } from 'react';`,
      `import { createRoot } from 'react-dom/client';`,
      `import { Page } from './ai-sdk.tsx';`,
      `createRoot(document.body).render(createElement(Page));`,
    ].join('\n');
    const { outputFiles } = await build({
      stdin: { contents, resolveDir: programs.of('.') },
      bundle: true,
      write: false,
      format: 'esm',
      jsx: 'automatic',
      define: { 'process.env.NODE_ENV': '"production"' },
    });
    const script = outputFiles[0]!.text.replace('http://localhost:3000', jackdaw.url);
    web.on('/page.js', (_request, reply) =>
      reply.writeHead(200, { 'content-type': 'text/javascript; charset=utf-8' }).end(script),
    );
    web.onAny((_request, reply) =>
      reply
        .writeHead(200, { 'content-type': 'text/html' })
        .end('<!doctype html><body><script type="module" src="/page.js"></script></body>'),
    );
    const opened = await chromium.newPage();
    opened.setDefaultTimeout(PATIENCE_MS);
    await opened.goto(web.url);
    return opened;
  }

  async function ask(text: string): Promise<void> {
    await page.getByLabel('Question').fill(text);
    await page.getByLabel('Question').press('Enter');
  }

  it('shows the conversation', async () => {
    llm.reply({ text: 'Hello.' });
    await ask('Hi');
    await page.getByText('assistant: Hello.').waitFor();
    expect(await page.locator('p').allTextContents()).toEqual(['user: Hi', 'assistant: Hello.']);
  });

  it.each([
    ['Approve', ['pay Ann 5']],
    ['Deny', []],
  ])('decides on a call: %s', async (button, done) => {
    tools.done.length = 0;
    llm.reply({ calls: [{ name: 'pay', arguments: { to: 'Ann', amount: 5 } }] }, { text: `After ${button}.` });
    await ask('Pay Ann');
    await page.getByRole('button', { name: button }).click();
    await page.getByText(`assistant: After ${button}.`).waitFor();
    expect(tools.done).toEqual(done);
  });

  it('shows an error', async () => {
    llm.reply({ status: 401, body: { error: { message: 'no' } } });
    await ask('Hi again');
    await page.getByRole('alert').waitFor();
    expect(await page.getByRole('alert').textContent()).toContain('MODEL_AUTHENTICATION');
  });
});
