import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> };
/** Parts of commands that only a POSIX shell has. */
const POSIX = /\bexec\b|\$|(^|&& )\s*([A-Z_]+=|rm |cp |mv |mkdir )|'/;

describe('the npm scripts', () => {
  it('run in the shell of Windows too', () => {
    expect(Object.entries(scripts).filter(([, command]) => POSIX.test(command))).toEqual([]);
    expect(['exec node x', 'A=1 node x', 'node x && rm -r y', 'cp a b'].filter((text) => !POSIX.test(text))).toEqual(
      [],
    );
  });

  it('end with npm: a signal to npm reaches its shell only, whose end the script notices', () => {
    const served = ['start', 'start:prod', 'mcp:stdio', 'probe:model'];
    expect(served.filter((name) => !scripts[name]!.startsWith('node scripts/run.mjs '))).toEqual([]);
  });

  it('check the Node before each program that needs it', () => {
    const served = ['build', 'start', 'dev', 'test', 'mcp:stdio', 'probe:model', 'check'];
    expect(served.filter((name) => scripts[`pre${name}`] !== 'node scripts/check-node.cjs')).toEqual([]);
  });
});

describe('the long forms of tests', () => {
  it('each run by an npm script', () => {
    const commands = Object.values(scripts).filter((command) => command.includes('--env-file=test/long.env'));
    const filters = commands.flatMap((command) => command.split(' run ')[1]!.split(' '));
    const named = filters.filter((word) => !word.startsWith('--'));
    const specs = globSync(['test/*.spec.ts', 'test/{chaos,faults,hostile}/*.spec.ts']);
    const withLongForm = specs.filter((path) =>
      /^import .*support\/long-form\.js';$/m.test(readFileSync(path, 'utf8')),
    );
    expect(withLongForm.length).toBeGreaterThan(20);
    expect(withLongForm.filter((path) => !named.some((name) => path.includes(name)))).toEqual([]);
  });
});

describe('the files of a checkout', () => {
  it('have the line ends of the repository on every system', () => {
    expect(readFileSync('.gitattributes', 'utf8')).toMatch(/^\* text=auto eol=lf$/m);
  });
});

// The installed Node is one for Linux.
(process.platform === 'linux' ? describe : describe.skip)('the check of Node', () => {
  let root: string;
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'jackdaw-node-'));
    for (const path of ['check-node.cjs', 'node']) {
      cpSync(join('scripts', path), join(root, 'scripts', path), { recursive: true });
    }
    mkdirSync(join(root, 'node_modules'));
  });
  afterEach(() => rmSync(root, { recursive: true }));

  const link = () => join(root, 'node_modules', '.bin', 'node');
  const program = () => `node_modules/node-linux-${process.arch}/bin/node`;

  /** Runs the check on this Node, which reports these versions and this C library. */
  function check({ node = '20.20.2', napi = '9', libc = 'glibc', npm = '', args = ['--install'] }) {
    const header = libc === 'glibc' ? { glibcVersionRuntime: '2.36' } : {};
    const preload = `Object.defineProperty(process, 'versions', { value: ${JSON.stringify({ node, napi })} });
      process.report.getReport = () => (${JSON.stringify({ header })});`;
    writeFileSync(join(root, 'preload.cjs'), preload);
    writeFileSync(join(root, 'npm.cjs'), `const [home] = process.argv.slice(4);\n${npm}`);
    const { status, stderr } = spawnSync(
      process.execPath,
      ['-r', join(root, 'preload.cjs'), join(root, 'scripts', 'check-node.cjs'), ...args],
      { encoding: 'utf8', env: { PATH: process.env['PATH'], npm_execpath: join(root, 'npm.cjs') } },
    );
    return { status, stderr };
  }

  it.each([
    ['20.20.2', '9'],
    ['22.12.0', '9'],
    ['22.19.0', '9'],
  ])('ends with one line on Node %s with the native interface %s', (node, napi) => {
    const { status, stderr } = check({ node, napi, args: [] });
    expect(status).toBe(1);
    expect(stderr).toMatch(new RegExp(`^Jackdaw needs Node 22\\.19 or newer; this is Node ${node}\\..*\\n$`));
  });

  it.each([['22.19.0'], ['24.0.0'], ['26.1.0']])('accepts Node %s, and installs none beside it', (node) => {
    expect(check({ node, napi: '10', npm: 'process.exit(1)' })).toEqual({ status: 0, stderr: '' });
    expect(check({ node, napi: '10', args: [] })).toEqual({ status: 0, stderr: '' });
    expect(existsSync(link())).toBe(false);
  });

  it('puts an installed Node first in the PATH of npm scripts', () => {
    const npm = `const path = require('path').join(home, ${JSON.stringify(program())});
      require('fs').mkdirSync(require('path').dirname(path), { recursive: true });
      require('fs').symlinkSync(process.execPath, path);`;
    expect(check({ npm })).toEqual({ status: 0, stderr: '' });
    expect(realpathSync(link())).toBe(realpathSync(process.execPath));
  });

  it.each([
    ['npm fails', 'process.exit(1)'],
    [
      'the program does not run',
      `const path = require('path').join(home, ${JSON.stringify(program())});
       require('fs').mkdirSync(require('path').dirname(path), { recursive: true });
       require('fs').writeFileSync(path, '#!/no/such/loader', { mode: 0o755 });`,
    ],
  ])('leaves the PATH unchanged if %s, and lets the installation end well', (_what, npm) => {
    const { status, stderr } = check({ npm });
    expect(status).toBe(0);
    expect(stderr).toMatch(/^Node 24 could not be installed into node_modules: .*\n$/);
    expect(existsSync(link())).toBe(false);
  });

  it('installs nothing without glibc, as on Alpine', () => {
    expect(check({ libc: 'musl', npm: 'process.exit(1)' })).toEqual({ status: 0, stderr: '' });
    expect(existsSync(join(root, 'node_modules', '.node'))).toBe(false);
  });
});
