import { expect, it } from 'vitest';
import { execFile } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { buildIfStale } from './support/process.js';

/** Runs `npm run release` without its npm script, which would use the shell's Node. */
async function release(...args: string[]): Promise<string> {
  buildIfStale();
  const { stdout } = await promisify(execFile)(process.execPath, ['scripts/release.mjs', ...args, '--dry-run']);
  return stdout;
}

interface Sbom {
  readonly components: readonly { readonly name: string }[];
}

it('a dry run checks the tarball, writes the SBOM of its packages, and changes no file', async () => {
  const files = [
    'package.json',
    'package-lock.json',
    'CHANGELOG.md',
    'src/kernel/version.ts',
    'create-jackdaw/package.json',
  ];
  const before = files.map((file) => readFileSync(file, 'utf8'));
  const output = await release();
  expect(output).toMatch(/jackdaw-[\d.]+\.tgz: \d+ bytes/);
  expect(output).toMatch(/create-jackdaw-[\d.]+\.tgz: \d+ bytes/);
  expect(output.match(/All good!/g)).toHaveLength(2);
  const folder = /the files are in (\S+)\./.exec(output)![1]!;
  const { components } = JSON.parse(readFileSync(join(folder, 'sbom.cdx.json'), 'utf8')) as Sbom;
  rmSync(folder, { recursive: true });
  const names = components.map(({ name }) => name);
  expect(names).toContain('typeorm');
  expect(names).not.toContain('vitest');
  expect(files.map((file) => readFileSync(file, 'utf8'))).toEqual(before);
});

it.each([
  ['0.0.1', '0.0.1 is not newer than'],
  ['2', '"2" is no version of the form 1.2.3.'],
])('a release as %s is refused', async (version, message) => {
  await expect(release(version)).rejects.toMatchObject({ stderr: expect.stringContaining(message) });
});
