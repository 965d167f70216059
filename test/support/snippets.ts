import { transform } from '@swc/core';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

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

  remove(): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}
