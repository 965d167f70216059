import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { globSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { buildIfStale } from './support/process.js';
import { SnippetFolder, snippetsOf } from './support/snippets.js';

/** Pages whose packages are in test/clients; `test/client-docs.spec.ts` compiles their programs there. */
const OF_CLIENTS = ['docs/ai-sdk.md', 'docs/langchain.md', 'docs/openai-agents.md'];
const PAGES = globSync(['README.md', 'docs/*.md', 'examples/*/*.md'], { exclude: OF_CLIENTS });
/** Snippets that continue another one: their undeclared names are explained in the text around them. */
const FRAGMENTS = ['docs/tool-state.md 1', 'docs/tool-state.md 3', 'docs/tool-state.md 4'];
/** TS2304, TS2552 and TS18004: unknown name; TS7031: an implicit `any` that follows from it. */
const UNKNOWN_NAME = [2304, 2552, 18004, 7031];
/** A file of another snippet: TS2307. */
const OTHER_SNIPPET = /'\.\/[\w.-]+\.js'/;

/** Specs of single pages run the snippets; this one compiles them all against the package's declarations. */
describe('the TypeScript snippets of the documents', () => {
  let folder: SnippetFolder;
  beforeAll(() => {
    buildIfStale();
    folder = new SnippetFolder();
  });
  afterAll(() => folder.remove());

  it('type-check', () => {
    const files = new Map<string, string>();
    for (const page of PAGES) {
      snippetsOf(page).forEach((code, index) => {
        const file = join(folder.path, `${page.replaceAll(/\W/g, '_')}_${index + 1}.ts`);
        writeFileSync(file, `${code}\nexport {};\n`);
        files.set(file, `${page} ${index + 1}`);
      });
    }
    expect(files.size).toBeGreaterThan(25);
    expect(faultsOf(files)).toEqual([]);
  });
});

/** Compiles with the settings of this repository, as `npm run dev` does with a snippet in `src/`. */
function faultsOf(files: ReadonlyMap<string, string>): string[] {
  const { config } = ts.readConfigFile('tsconfig.json', (path) => ts.sys.readFile(path)) as {
    config: { compilerOptions: object };
  };
  const {
    rootDir: _root,
    outDir: _out,
    paths: _paths,
    ...settings
  } = ts.convertCompilerOptionsFromJson(config.compilerOptions, '.').options;
  const program = ts.createProgram([...files.keys()], { ...settings, noEmit: true });
  return ts.getPreEmitDiagnostics(program).flatMap(({ file, code, messageText }) => {
    const snippet = files.get(file?.fileName ?? '') ?? 'the program';
    const message = ts.flattenDiagnosticMessageText(messageText, '\n');
    if (FRAGMENTS.includes(snippet) && UNKNOWN_NAME.includes(code)) return [];
    if (code === 2307 && OTHER_SNIPPET.test(message)) return [];
    return [`${snippet}: ${message}`];
  });
}
