// Prepares a release: version, changelog, tarball, SBOM, and the description for the MCP registry. The workflow in
// .github/workflows/release.yml publishes a pushed tag.
//                                              npm run release -- 1.2.0 [--dry-run]      (by default the next minor version)
import spawn from 'cross-spawn';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';

/** The package of `npm create jackdaw`. */
const TEMPLATE = 'create-jackdaw';
/** Places of the version, as a pattern whose first group precedes it. */
const PLACES = {
  'src/kernel/version.ts': /(VERSION = ')[^']*/,
  // The template asks for this version.
  [`${TEMPLATE}/package.json`]: /("version": ")[^"]*/,
  'deploy/helm/jackdaw/Chart.yaml': /(\n(?:version: |appVersion: '))[^'\n]*/g,
};

const { values, positionals } = parseArgs({ options: { 'dry-run': { type: 'boolean' } }, allowPositionals: true });
const isDryRun = values['dry-run'] === true;
const manifest = JSON.parse(readFileSync('package.json', 'utf8'));
const version = positionals[0] ?? nextMinor(manifest.version);
/** Whether tracked files have changed, all of them by this program. */
let hasChanges = false;
const folder = isDryRun ? mkdtempSync(join(tmpdir(), 'jackdaw-release-')) : resolve('release');

/** Ends the program with a message, without a change of the working tree. */
function fail(message) {
  console.error(message);
  if (hasChanges) spawn.sync('git', ['checkout', '--quiet', '--', '.']);
  process.exit(1);
}

/** @returns standard output */
function run(command, ...args) {
  const { status, stdout, stderr, error } = spawn.sync(command, args, { encoding: 'utf8', maxBuffer: 64 * 2 ** 20 });
  if (status !== 0) fail(`${command} ${args.join(' ')} failed: ${error?.message ?? (stderr || stdout)}`);
  return stdout;
}

function nextMinor(current) {
  const [major, minor] = current.split('.').map(Number);
  return `${major}.${minor + 1}.0`;
}

/** Whether `next` is the newer of two versions without suffixes. */
function isNewer(next, current) {
  const [a, b] = [next, current].map((one) => one.split('.').map(Number));
  const place = a.findIndex((number, index) => number !== b[index]);
  return place !== -1 && a[place] > b[place];
}

/** The changelog with the unreleased entries below the version, and these entries. */
function released(changelog) {
  const [, head, entries, rest] = /^(.*?## \[Unreleased\]\n)(.*?)(\n## \[.*)$/s.exec(changelog) ?? [];
  // The tarball of a version just released can be checked, although its changelog has no new entries.
  if (entries === undefined || (entries.trim() === '' && !isDryRun))
    fail('CHANGELOG.md has no entries under [Unreleased]; a release needs one.');
  const date = new Date().toISOString().slice(0, 10);
  return { whole: `${head}\n## [${version}] - ${date}\n${entries}${rest}`, entries: entries.trim() };
}

/** The owner and name of the repository on GitHub; undefined for another remote. */
function repository() {
  const { stdout } = spawn.sync('git', ['remote', 'get-url', 'origin'], { encoding: 'utf8' });
  return /github\.com[:/]([^/]+\/[^/]+?)(?:\.git)?\s*$/.exec(stdout ?? '')?.[1];
}

/** The description of the MCP server over standard input and output (modelcontextprotocol.io, "MCP Registry"). */
function registryEntry(name) {
  return {
    $schema: 'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json',
    name,
    description: 'Tools and agents of a NestJS application, with durable runs.',
    version,
    packages: [
      {
        registryType: 'npm',
        identifier: manifest.name,
        version,
        runtimeHint: 'npx',
        packageArguments: [
          { type: 'positional', value: 'mcp' },
          { type: 'positional', value: 'stdio' },
        ],
        transport: { type: 'stdio' },
      },
    ],
  };
}

function changeText(file, change) {
  writeFileSync(file, change(readFileSync(file, 'utf8')));
}

/** Writes the version to all files that contain it. */
function writeVersion() {
  hasChanges = true;
  writeFileSync('package.json', `${JSON.stringify({ ...manifest, version, ...(mcpName && { mcpName }) }, null, 2)}\n`);
  run('npm', 'version', version, '--no-git-tag-version', '--allow-same-version', '--ignore-scripts');
  for (const [file, pattern] of Object.entries(PLACES))
    changeText(file, (text) => text.replace(pattern, (_place, before) => before + version));
  const former = `jackdaw-${manifest.version}.tgz`;
  const named = run('git', 'grep', '--files-with-matches', '--fixed-strings', former, '--', ':!CHANGELOG.md');
  for (const file of named.trim().split('\n'))
    changeText(file, (text) => text.replaceAll(former, `jackdaw-${version}.tgz`));
}

/** Packs the package of a folder and checks the tarball. @returns its path */
function packChecked(source) {
  const [{ filename, size, unpackedSize, entryCount }] = Object.values(
    JSON.parse(run('npm', 'pack', `./${source}`, '--json', '--ignore-scripts', '--pack-destination', folder)),
  );
  console.log(`${filename}: ${size} bytes, unpacked ${unpackedSize} bytes, ${entryCount} files`);
  const packed = join(folder, filename);
  console.log(run(process.execPath, 'node_modules/publint/src/cli.js', 'run', packed, '--strict').trim());
  return packed;
}

/** The packages that an installation of the tarball has. */
function sbomOf(tarball) {
  const project = mkdtempSync(join(tmpdir(), 'jackdaw-sbom-'));
  writeFileSync(join(project, 'package.json'), JSON.stringify({ name: 'jackdaw-sbom', version }));
  run('npm', 'install', tarball, '--prefix', project, '--package-lock-only', '--no-audit', '--no-fund');
  const sbom = run('npm', 'sbom', '--prefix', project, '--package-lock-only', '--sbom-format', 'cyclonedx');
  rmSync(project, { recursive: true });
  return sbom;
}

if (!/^\d+\.\d+\.\d+$/.test(version)) fail(`"${version}" is no version of the form 1.2.3.`);
if (!isNewer(version, manifest.version)) fail(`${version} is not newer than ${manifest.version}.`);
if (!isDryRun && run('git', 'status', '--porcelain') !== '') fail('The working tree has changes; commit them first.');
mkdirSync(folder, { recursive: true });
const { whole, entries } = released(readFileSync('CHANGELOG.md', 'utf8'));
const github = repository();
const mcpName = github && `io.github.${github}`;
if (!isDryRun) writeVersion();
run(process.execPath, 'scripts/build.mjs', '--if-stale');
if (!isDryRun) {
  run('npm', 'run', 'openapi:document');
  run('npm', 'run', 'lock:deploy');
}
const tarball = packChecked('.');
packChecked(TEMPLATE);
run(process.execPath, 'node_modules/@arethetypeswrong/cli/dist/index.js', tarball, '--profile', 'node16');
console.log('The types resolve for ES modules and CommonJS.');
writeFileSync(join(folder, 'sbom.cdx.json'), sbomOf(tarball));
if (mcpName) writeFileSync(join(folder, 'server.json'), `${JSON.stringify(registryEntry(mcpName), null, 2)}\n`);
else console.log('No remote "origin" on GitHub: server.json of the MCP registry needs its owner and name.');
if (isDryRun) {
  console.log(
    `\nChanges of ${version}:\n\n${entries.split('\n').slice(0, 20).join('\n')}\n…\nNothing was changed; the files are in ${folder}.`,
  );
} else {
  writeFileSync('CHANGELOG.md', whole);
  if (mcpName) copyFileSync(join(folder, 'server.json'), 'server.json');
  // The working tree had no changes.
  run('git', 'add', '--update');
  if (mcpName) run('git', 'add', 'server.json');
  run('git', 'commit', '-m', `chore(release): ${version}`);
  run('git', 'tag', '-a', `v${version}`, '-m', `Jackdaw ${version}`);
  rmSync(folder, { recursive: true });
  console.log(`Tagged v${version}. git push --follow-tags publishes it.`);
}
