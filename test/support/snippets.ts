import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { transform } from '@swc/core';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CODE_CACHE } from './process.js';

/** The TypeScript in a document, block by block. */
export function snippetsOf(document: string): string[] {
  return [...readFileSync(document, 'utf8').matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code = '']) => code);
}

/** A folder for snippets, inside the package, so that its own name resolves to it. */
export class SnippetFolder {
  readonly path = mkdtempSync(join(process.cwd(), 'dist', 'snippets-'));

  /** Compiles a snippet as a reader would. @returns the path of the file */
  async compile(code: string): Promise<string> {
    const compiled = await transform(code, {
      jsc: {
        target: 'es2023',
        parser: { syntax: 'typescript', decorators: true },
        transform: { legacyDecorator: true, decoratorMetadata: true },
      },
      module: { type: 'es6' },
    });
    const file = join(mkdtempSync(join(this.path, 'file-')), 'snippet.mjs');
    writeFileSync(file, compiled.code);
    return file;
  }

  /**
   * Runs snippets with the test runner of Node, all in one process.
   * @returns the names of the tests that passed
   */
  async passedTests(snippets: readonly string[]): Promise<string[]> {
    const files = await Promise.all(snippets.map((code) => this.compile(code)));
    const args = ['--test', '--test-isolation=none', '--test-reporter=tap', ...files];
    const env = { PATH: process.env['PATH'], NODE_COMPILE_CACHE: CODE_CACHE };
    const { stdout } = await promisify(execFile)(process.execPath, args, { env });
    return [...stdout.matchAll(/^ok \d+ - (.*)$/gm)].map(([, name = '']) => name);
  }

  remove(): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}
