// Builds the site into site/dist/html: stages the pages, writes the API reference, builds with VitePress, writes llms.txt and the
// text of the pages, and checks all links. Run by `npm run docs:site`. DOCS_BASE is the path of the site on its host. `--stage` ends
// before VitePress.
import { globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Application } from 'typedoc';
import { checkLinks } from './check.mjs';
import { llmsFull, llmsIndex } from './llms.mjs';
import { BASE, OUTPUT, STAGED } from './pages.mjs';
import { stagePages } from './stage.mjs';

process.chdir(import.meta.dirname);

/** Writes a page for each export of the package. Its warnings, such as broken `{@link}`s, are errors. */
async function writeApi() {
  const typedoc = await Application.bootstrapWithPlugins();
  const project = await typedoc.convert();
  if (!project) throw new Error('TypeDoc could not read the declarations in lib/: run `npm run build`.');
  typedoc.validate(project);
  await typedoc.generateOutputs(project);
  if (typedoc.logger.hasErrors() || typedoc.logger.hasWarnings()) throw new Error('TypeDoc found faults.');
}

/** Each page is also served as Markdown. */
function writeTexts() {
  for (const path of globSync('**/*.md', { cwd: STAGED })) {
    if (path.startsWith('api') || /(?:^|\W)index\.md$/.test(path)) continue;
    const text = readFileSync(join(STAGED, path), 'utf8');
    writeFileSync(join(OUTPUT, path), text.replaceAll('](/', `](${BASE}`));
  }
  writeFileSync(join(OUTPUT, 'llms.txt'), llmsIndex(BASE));
  writeFileSync(join(OUTPUT, 'llms-full.txt'), llmsFull(BASE));
}

const pages = stagePages();
await writeApi();
if (!process.argv.includes('--stage')) {
  rmSync(OUTPUT, { recursive: true, force: true });
  // VitePress reads the environment when it is loaded.
  process.env.NODE_ENV = 'production';
  const { build } = await import('vitepress');
  await build('.');
  writeTexts();
  const faults = checkLinks(OUTPUT, BASE);
  for (const fault of faults) console.error(fault);
  if (faults.length > 0) throw new Error(`The site has ${faults.length} broken links.`);
  console.log(`${pages} pages, the API reference and llms.txt are in ${OUTPUT}.`);
}
