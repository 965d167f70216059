import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';

const SCRIPT = resolve('scripts/licences.mjs');
const check = (root = '.') => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [SCRIPT, '--root', root], { encoding: 'utf8' });
  return { status, lines: (stdout + stderr).trim().split('\n') };
};

it('all packages of a production installation have permitted licences', () => {
  expect(check()).toEqual({ status: 0, lines: [expect.stringMatching(/^\d{3} packages have permitted licences$/)] });
});

describe('the check of licences', () => {
  let root: string;
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'licences-'));
  });
  afterEach(() => rmSync(root, { recursive: true }));

  /** Packages by path: their entry in the lock, and their own package.json unless they are not installed. */
  function project(packages: Readonly<Record<string, { entry?: object; own?: object }>>): void {
    const entries = Object.entries(packages).map(([path, { entry = {} }]) => [`node_modules/${path}`, entry] as const);
    writeFileSync(
      join(root, 'package-lock.json'),
      JSON.stringify({ packages: { '': {}, ...Object.fromEntries(entries) } }),
    );
    for (const [path, { own }] of Object.entries(packages)) {
      if (!own) continue;
      const file = join(root, 'node_modules', path, 'package.json');
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, JSON.stringify(own));
    }
  }

  it('accepts listed licences and choices among them, and ignores packages for development', () => {
    project({
      mit: { own: { license: 'MIT' } },
      choice: { own: { license: '(GPL-3.0-only OR Apache-2.0)' } },
      both: { own: { license: 'MIT AND ISC' } },
      listed: { own: { licenses: [{ type: 'MIT', url: 'https://example.com' }] } },
      tool: { entry: { dev: true }, own: { license: 'GPL-3.0-only' } },
      elsewhere: { entry: { optional: true, license: 'MIT' } },
    });
    expect(check(root)).toEqual({ status: 0, lines: ['5 packages have permitted licences'] });
  });

  it('names each package without a permitted licence', () => {
    project({
      '@scope/none': { own: {} },
      'mit/node_modules/copyleft': { own: { license: 'GPL-3.0-only' } },
      both: { own: { license: 'MIT AND GPL-3.0-only' } },
      old: { own: { license: { type: 'MIT' } } },
      absent: {},
      elsewhere: { entry: { optional: true, license: 'SSPL-1.0' } },
    });
    const { status, lines } = check(root);
    expect(status).toBe(1);
    expect(lines.slice(0, -1)).toEqual([
      '@scope/none: it names no licence',
      'copyleft: its licence is "GPL-3.0-only"',
      'both: its licence is "MIT AND GPL-3.0-only"',
      'old: its licence is {"type":"MIT"}',
      'absent: it is not installed: run `npm ci`',
      'elsewhere: its licence is "SSPL-1.0"',
    ]);
  });
});
