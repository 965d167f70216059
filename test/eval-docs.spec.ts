import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readFileSync } from 'node:fs';
import { parseDataset } from '../src/testing/eval/dataset.parser.js';
import { parseScorer, score } from '../src/testing/eval/scorer.parser.js';
import { assertGates } from '../src/testing/eval/gates.policy.js';
import { buildIfStale } from './support/process.js';
import { SnippetFolder, snippetsOf } from './support/snippets.js';

const PAGE = readFileSync('docs/evals.md', 'utf8');
const SNIPPETS = snippetsOf('docs/evals.md');
const NAME = /^it\('(.*)', async/m;
const [LINE = '', DEFINITION = ''] = [...PAGE.matchAll(/^```json\n(.*?)^```$/gms)].map(([, code = '']) => code);

describe('docs/evals.md', () => {
  let folder: SnippetFolder;
  beforeAll(() => {
    buildIfStale();
    folder = new SnippetFolder();
  });
  afterAll(() => folder.remove());

  it('has a test of an agent and one of its guardrails', () => expect(SNIPPETS.length).toBe(2));

  it('has tests that pass', async () => {
    const names = SNIPPETS.map((code) => NAME.exec(code)?.[1] ?? '');
    expect((await folder.passedTests(SNIPPETS)).toSorted()).toEqual(names.toSorted());
  });

  it('has a line and a definition that are valid', () => {
    expect(parseDataset(JSON.stringify(JSON.parse(LINE)), 'docs')).toHaveLength(1);
    const { scorers, gates } = JSON.parse(DEFINITION) as { scorers: unknown[]; gates: object };
    const names = scorers.map((one) => parseScorer(one).name);
    expect(names).toEqual(['contains', 'trajectory', 'rubric']);
    assertGates(gates, names, false);
  });

  it('lists each scorer', () => {
    const rows = [...PAGE.matchAll(/^\| `(\w+)` +\|/gm)].map(([, name]) => name);
    expect(Object.keys(score).filter((name) => !rows.includes(name))).toEqual([]);
  });
});
