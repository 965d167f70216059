#!/usr/bin/env node
// Writes a NestJS application with an agent and a tool into a new folder.      npm create jackdaw my-agents
import { cpSync, existsSync, globSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { basename, join, relative, resolve } from 'node:path';
import { parseArgs } from 'node:util';

const HERE = import.meta.dirname;
const USAGE = `Usage: npm create jackdaw [folder]

Writes a NestJS application with an agent and a tool into the folder, by default ./my-agents. The folder must be new or
empty; a folder .git may be in it.
`;

function fail(message) {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}

function readArguments() {
  try {
    const { values, positionals } = parseArgs({
      options: { help: { type: 'boolean', short: 'h' } },
      allowPositionals: true,
    });
    if (positionals.length > 1) fail(`There are too many arguments.\n\n${USAGE}`);
    return { isHelp: values.help === true, folder: resolve(positionals[0] ?? 'my-agents') };
  } catch (error) {
    return fail(`${error.message}\n\n${USAGE}`);
  }
}

/** The name of an npm package by a folder. */
function nameOf(folder) {
  const name = basename(folder)
    .toLowerCase()
    .replaceAll(/[^a-z0-9-]+/g, '-')
    .replaceAll(/^-+|-+$/g, '');
  return name || 'my-agents';
}

const { isHelp, folder } = readArguments();
if (isHelp) {
  process.stdout.write(USAGE);
  process.exit(0);
}
if (existsSync(folder) && readdirSync(folder).some((name) => name !== '.git')) {
  fail(`${folder} is not empty. Name a new folder: npm create jackdaw my-agents`);
}
const { version } = JSON.parse(readFileSync(join(HERE, 'package.json'), 'utf8'));
cpSync(join(HERE, 'template'), folder, { recursive: true });
// npm leaves files with these names out of a package.
for (const name of ['gitignore', 'env']) renameSync(join(folder, `_${name}`), join(folder, `.${name}`));
const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
const dependencies = { ...manifest.dependencies, jackdaw: `^${version}` };
writeFileSync(
  join(folder, 'package.json'),
  `${JSON.stringify({ ...manifest, name: nameOf(folder), dependencies }, null, 2)}\n`,
);
const written = globSync(['**/*', '.env', '.gitignore'], { cwd: folder, exclude: ['.git/**'], withFileTypes: true });
for (const entry of written.filter((each) => each.isFile())) {
  process.stdout.write(`created  ${relative(folder, join(entry.parentPath, entry.name))}\n`);
}
const place = relative('.', folder) || '.';
process.stdout.write(`
Next:
${place === '.' ? '' : `  cd ${place}\n`}  npm install
  npm start                # serves on http://localhost:3000
  npx jackdaw chat         # in another terminal; without a key the offline model answers: call weather Oslo
`);
