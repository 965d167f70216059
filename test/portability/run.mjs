// Checks, on Linux, of the differences of other systems (`npm run test:portability`, some ten minutes). Prints one line per part.
// `npm run test:portability -- npm` runs the parts whose names contain this text.
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const VITEST = ['--env-file=test/long.env', 'node_modules/vitest/vitest.mjs', 'run'];
/** The targets of an installation: os, cpu and, on Linux, the C library. */
const TARGETS = [
  ['linux', 'x64', 'glibc'],
  ['linux', 'arm64', 'glibc'],
  ['linux', 'x64', 'musl'],
  ['linux', 'arm64', 'musl'],
  ['darwin', 'arm64'],
  ['win32', 'x64'],
];

const work = mkdtempSync(join(tmpdir(), 'jackdaw-portability-'));

/** @throws Error with the output of a command that fails */
function run(command, args, options = {}) {
  const { status, error, stdout, stderr } = spawnSync(command, args, {
    encoding: 'utf8',
    maxBuffer: Infinity,
    ...options,
    env: { ...process.env, ...options.env },
  });
  if (status !== 0)
    throw new Error(`${command} ${args.join(' ')}: ${error ?? `exit code ${status}`}\n${stdout}${stderr}`);
  return stdout;
}

/** The specs of this folder take /proc, folder fsync and signals to groups away from servers. */
function withoutLinux() {
  run(process.execPath, [...VITEST, '--maxWorkers=1', 'test/portability']);
}

/** On macOS the folder of temporary files is behind a symbolic link. */
function behindLink() {
  const [folder, link] = [join(work, 'temporary'), join(work, 'link')];
  mkdirSync(folder);
  symlinkSync(folder, link);
  const specs = ['src/', 'test/platform', 'files', 'test/database-owner', 'test/config', 'test/mcp-client'];
  run(process.execPath, [...VITEST, ...specs], { env: { TMPDIR: link } });
}

/** A checkout by Git for Windows, which by default changes line ends. */
function withCarriageReturns() {
  const clone = join(work, 'clone');
  run('git', ['clone', '--quiet', '-c', 'core.autocrlf=true', '.', clone]);
  const changed = run('git', ['ls-files', '--eol'], { cwd: clone })
    .split('\n')
    .filter((line) => line.includes('w/crlf'));
  if (changed.length > 0) throw new Error(`${changed.length} files have CR LF, such as ${changed[0]}`);
}

/** Installs for another system, and looks for the native packages that the lock names for it. */
function installs([os, cpu, libc]) {
  const folder = join(work, [os, cpu, libc].join('-'));
  mkdirSync(folder);
  for (const file of ['package.json', 'package-lock.json', '.npmrc']) cpSync(file, join(folder, file));
  const flags = [`--os=${os}`, `--cpu=${cpu}`, ...(libc ? [`--libc=${libc}`] : [])];
  run('npm', ['ci', ...flags, '--ignore-scripts', '--no-audit', '--no-fund'], { cwd: folder });
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8'));
  const isMeant = (entry) =>
    entry.os?.includes(os) && entry.cpu?.includes(cpu) && (!entry.libc || entry.libc.includes(libc));
  const native = Object.keys(packages).filter((path) => isMeant(packages[path]));
  const missing = native.filter((path) => !existsSync(join(folder, path)));
  if (native.length === 0 || missing.length > 0) throw new Error(`missing: ${missing.join(', ')}`);
  const binary = `${os}${libc === 'musl' ? 'musl' : ''}-${cpu}.node`;
  if (!existsSync(join(folder, 'node_modules/better-sqlite3-v13/prebuilds', binary)))
    throw new Error(`missing: ${binary}`);
  rmSync(folder, { recursive: true });
}

const PARTS = [
  ['without /proc, folder fsync and signals to groups', withoutLinux],
  ['a temporary folder behind a link', behindLink],
  ['a checkout with core.autocrlf', withCarriageReturns],
  ...TARGETS.map((target) => [`npm ci for ${target.join(' ')}`, () => installs(target)]),
];

let failed = 0;
const [wanted = ''] = process.argv.slice(2);
for (const [name, part] of PARTS) {
  if (!name.includes(wanted)) continue;
  try {
    part();
    process.stdout.write(`passed: ${String(name)}\n`);
  } catch (error) {
    failed++;
    process.stdout.write(`FAILED: ${String(name)}\n${String(error.message)}\n`);
  }
}
rmSync(work, { recursive: true });
process.exitCode = failed > 0 ? 1 : 0;
