import { describe, expect, it } from 'vitest';
import { spawnSync } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';

const results = JSON.parse(readFileSync('bench/results.json', 'utf8')) as Record<string, Record<string, unknown>>;
const page = readFileSync('bench/README.md', 'utf8');

describe('bench/README.md', () => {
  it('has the table of the recorded figures', () => {
    const { status, stderr } = spawnSync(process.execPath, ['bench/report.mjs', '--check'], { encoding: 'utf8' });
    expect([status, stderr]).toEqual([0, '']);
  });

  it('has figures of existing benches with date, machine and commit', () => {
    const faults = Object.entries(results).filter(([bench, { date, machine, commit }]) => {
      const isKnown = bench.startsWith('harness ') || existsSync(`bench/${bench}.mjs`);
      return !isKnown || !/^\d{4}-\d\d-\d\d$/.test(String(date)) || !machine || !/^[\da-f]{7,}$/.test(String(commit));
    });
    expect(faults).toEqual([]);
  });

  it('describes every bench that records figures', () => {
    const benches = globSync('bench/*.mjs').filter((path) => /^\s*record\('/m.test(readFileSync(path, 'utf8')));
    const names = benches.map((path) => path.slice('bench/'.length, -'.mjs'.length));
    expect(names.length).toBeGreaterThan(10);
    expect(names.filter((name) => !page.includes(`| \`${name}\` `))).toEqual([]);
  });
});
