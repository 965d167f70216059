import { describe, expect, it } from 'vitest';
import { readFileSync } from 'node:fs';

interface LockEntry {
  resolved?: string;
  gypfile?: boolean;
  integrity?: string;
  link?: boolean;
  optionalDependencies?: Record<string, string>;
}

const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as { packages: Record<string, LockEntry> };

// `npm run lock` fixes each of these.
describe('package-lock.json', () => {
  it('names no registry', () => {
    expect(Object.values(packages).filter(({ resolved }) => resolved?.startsWith('http'))).toEqual([]);
  });

  it('has an integrity hash for every package', () => {
    const open = Object.entries(packages).filter(([path, { integrity, link }]) => path && !link && !integrity);
    expect(open.map(([path]) => path)).toEqual([]);
  });

  it('prevents npm from compiling better-sqlite3, which includes its binaries', () => {
    expect(packages['node_modules/better-sqlite3-v13']?.gypfile).toBe(false);
  });

  it('has the prebuilt packages of each platform', () => {
    const missing = Object.entries(packages).flatMap(([path, { optionalDependencies = {} }]) =>
      Object.keys(optionalDependencies).filter(
        (name) => !packages[`node_modules/${name}`] && !packages[`${path}/node_modules/${name}`],
      ),
    );
    expect(missing).toEqual([]);
  });
});
