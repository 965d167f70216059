import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const SCRIPT = resolve('scripts/language.mjs');
const COMMITS = resolve('scripts/check-commits.mjs');

const run = (script: string, args: readonly string[], cwd = '.') => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...args], { cwd, encoding: 'utf8' });
  return { status, output: stdout + stderr };
};

describe('the language of the project', () => {
  it('uses no more banned phrases than the ratchet allows, and none in new files', () => {
    const { status, output } = run(SCRIPT, []);
    expect({ status, output }).toEqual({ status: 0, output: expect.stringMatching(/^\d+ files read/) });
    expect(Number(/^\d+/.exec(output)![0])).toBeGreaterThan(1000);
  });

  describe('in another project', () => {
    let root: string;
    beforeAll(() => {
      root = mkdtempSync(join(tmpdir(), 'language-'));
      mkdirSync(join(root, 'src'));
      writeFileSync(
        join(root, 'src/faulty.ts'),
        [
          "import { told } from './told.js';",
          '/** A comment that',
          ' * tells. */',
          'const nobody = /nobody/;',
          'export const text = `was ${told} by nobody` + `told:${told}` + "What is {{a.b}} * 7?"; // it goes on',
        ].join('\n'),
      );
      writeFileSync(join(root, 'notes.md'), 'Strangers are\nlet in here. What is it?\n');
    });
    afterAll(() => rmSync(root, { recursive: true }));

    it('finds phrases in comments, strings and documents, but not in code, patterns or questions', () => {
      const { output } = run(SCRIPT, ['--list', '--root', root]);
      expect(output.split('\n').slice(0, -2)).toEqual([
        expect.stringMatching(/^notes\.md:1: "Strangers"/),
        expect.stringMatching(/^notes\.md:2: "let in"/),
        expect.stringMatching(/^src\/faulty\.ts:3: "tells"/),
        expect.stringMatching(/^src\/faulty\.ts:5: "nobody"/),
        expect.stringMatching(/^src\/faulty\.ts:5: "goes on"/),
      ]);
    });

    it('fails for a new file and for a folder with an increased count', () => {
      expect(run(SCRIPT, ['--root', root])).toMatchObject({ status: 1, output: expect.stringContaining('notes.md:1') });
      mkdirSync(join(root, 'scripts'));
      expect(run(SCRIPT, ['--write', '--root', root]).status).toBe(0);
      expect(run(SCRIPT, ['--root', root]).status).toBe(0);
      writeFileSync(join(root, 'notes.md'), 'Strangers are let in here. Nobody knows.\n');
      expect(run(SCRIPT, ['--root', root])).toMatchObject({
        status: 1,
        output: expect.stringContaining('./ has 3 banned phrases, at most 2 are allowed'),
      });
    });
  });
});

describe('commit subjects', () => {
  let root: string;
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=A', '-c', 'user.email=a@example.org', ...args], { cwd: root });
  const commit = (subject: string) => git('commit', '--allow-empty', '-qm', subject);
  const check = (cwd = root) => run(join(cwd, 'scripts/check-commits.mjs'), [], cwd);

  beforeAll(() => {
    root = mkdtempSync(join(tmpdir(), 'commits-'));
    git('init', '-q');
    commit('Something from before the check');
    mkdirSync(join(root, 'scripts'));
    cpSync(COMMITS, join(root, 'scripts/check-commits.mjs'));
    cpSync(resolve('scripts/banned-phrases.json'), join(root, 'scripts/banned-phrases.json'));
    git('add', '.');
    commit('Add the check itself');
    commit('fix(budget): release reservations of a failed call');
    commit('feat!: drop Node 20');
  });
  afterAll(() => rmSync(root, { recursive: true }));

  it('follow the rules in this repository', () => {
    expect(run(COMMITS, [])).toEqual({ status: 0, output: '' });
  });

  it('are checked after the commit that added the check', () => {
    expect(check()).toEqual({ status: 0, output: '' });
  });

  it.each([
    ['Release reservations', 'is not "type(scope): subject"'],
    ['fix(budget) release reservations', 'is not "type(scope): subject"'],
    [`fix: ${'x'.repeat(68)}`, 'has 73 characters, at most 72'],
    ['fix: what became of a call', 'contains the banned phrase "what became"'],
  ])('are refused with the reason: %s', (subject, reason) => {
    commit(subject);
    const result = check();
    git('reset', '-q', '--hard', 'HEAD~1');
    expect(result).toEqual({ status: 1, output: expect.stringContaining(reason) });
  });

  it('are checked after the oldest commit of a shallow clone', () => {
    commit('fix(run): repeat nothing');
    commit('Wrong');
    const shallow = join(root, 'shallow');
    execFileSync('git', ['clone', '-q', '--depth', '2', `file://${root}`, shallow]);
    expect(check(shallow)).toEqual({ status: 1, output: expect.stringMatching(/^\w+ "Wrong" is not/) });
  });
});
