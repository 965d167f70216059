import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readDataset } from '../src/testing/eval/dataset.parser.js';
import type { EvalAnswer, EvalCall, Scorer } from '../src/testing/eval/eval.types.js';
import { parseScorer } from '../src/testing/eval/scorer.parser.js';
import { signTest, wilson } from '../src/testing/eval/statistics.js';
import { score } from '../src/testing/eval/index.js';

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'jackdaw-scorers-'))));
afterEach(() => rmSync(folder, { recursive: true }));

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

const ANSWER: EvalAnswer = {
  runId: 'r',
  status: 'completed',
  text: '',
  calls: [],
  steps: 2,
  durationMs: 40,
  usage: { tokens: 15, cost: 0.5 },
};

async function scored(scorer: Scorer, line: object, answer: Partial<EvalAnswer>): Promise<number> {
  const context = { line: { id: '1', input: 'q', ...line }, answer: { ...ANSWER, ...answer }, key: 'k' };
  return (await scorer.score({ ...context, ask: () => Promise.reject(new Error('no judge')) })).score;
}

describe('a dataset', () => {
  it('reads the spellings of other tools', () => {
    const path = file(
      'a.jsonl',
      [
        '{"id":"x","input":"a","expected":1,"metadata":{"k":1},"calls":[{"tool":"t","arguments":{"a":1}}]}',
        '{"inputs":{"question":"b"},"referenceOutputs":{"answer":"B"}}',
        '',
        '{"input":"c","expectedOutput":"C"}',
        '{"input":"d","groundTruth":["D"]}',
      ].join('\n'),
    );
    expect(readDataset(path)).toEqual([
      { id: 'x', input: 'a', expected: 1, metadata: { k: 1 }, calls: [{ tool: 't', arguments: { a: 1 } }] },
      { id: '2', input: 'b', expected: { answer: 'B' } },
      { id: '4', input: 'c', expected: 'C' },
      { id: '5', input: 'd', expected: ['D'] },
    ]);
  });

  it.each([
    ['{"input":"a"', /this is no JSON \(/],
    ['[]', /this is no JSON object/],
    ['{"expected":1}', /"input" \(or "inputs"\) must be a text/],
    ['{"input":" "}', /must be a text/],
    ['{"inputs":{"a":1}}', /the input object must have a text in input, question/],
    ['{"input":"a","expcted":1}', /"expcted" is no member: did you mean "expected"\?$/],
    ['{"input":"a","expected":1,"groundTruth":1}', /"expected" and "groundTruth" are names for the same/],
    ['{"input":"a","calls":[{"name":"t"}]}', /"calls\[0\]" must be \{ "tool"/],
    ['{"input":"a","metadata":1}', /"metadata" must be an object/],
    ['{"id":"1","input":"a"}', /the id "1" is used twice/],
  ])('refuses the line %s with file, line and fault', (line, fault) => {
    const path = file('bad.jsonl', `{"input":"fine"}\n${line}\n`);
    expect(() => readDataset(path)).toThrow(fault);
    expect(() => readDataset(path)).toThrow(`${path}:2: `);
  });

  it('refuses an empty and a missing file', () => {
    expect(() => readDataset(file('empty.jsonl', '\n'))).toThrow('has no lines');
    expect(() => readDataset(join(folder, 'none.jsonl'))).toThrow('cannot be read');
  });
});

describe('a scorer', () => {
  it.each<[string, unknown, object, Partial<EvalAnswer>, number]>([
    ['exact', 'exact', { expected: 'Yes' }, { text: ' Yes\n' }, 1],
    ['exact, other', 'exact', { expected: 'Yes' }, { text: 'yes' }, 0],
    [
      'exact, normalised',
      { type: 'exact', ignoreSpace: true, ignoreCase: true },
      { expected: 'a B' },
      { text: 'A\n b' },
      1,
    ],
    ['exact, JSON', 'exact', { expected: { b: 1, a: [2] } }, { text: '```json\n{"a":[2],"b":1}\n```' }, 1],
    ['exact, no JSON', 'exact', { expected: { a: 1 } }, { text: 'a is 1' }, 0],
    ['contains', 'contains', { expected: ['one', 'two'] }, { text: 'only one' }, 0.5],
    ['contains, values', { type: 'contains', values: ['5'] }, {}, { text: 'It is 5.' }, 1],
    ['json', 'json', { expected: { a: { b: 1 } } }, { output: { a: { b: 1, c: 2 }, d: 3 } }, 1],
    ['json, path', { type: 'json', path: '$.list[1]["a b"]' }, { expected: 7 }, { text: '{"list":[0,{"a b":7}]}' }, 1],
    ['json, shorter list', 'json', { expected: [1] }, { output: [1, 2] }, 0],
    ['json, inherited', 'json', { expected: { constructor: {} } }, { output: {} }, 0],
    ['schema', { type: 'schema', schema: { type: 'object', required: ['a'] } }, {}, { text: '{"a":1}' }, 1],
    ['schema, invalid', { type: 'schema', schema: { type: 'array' } }, {}, { text: '{}' }, 0],
    ['schema, text', { type: 'schema', schema: {} }, {}, { text: 'none' }, 0],
    ['number', { type: 'number', tolerance: 0.5 }, { expected: 1200 }, { text: 'Of 3 it is 1,200.4' }, 1],
    ['number, relative', { type: 'number', relative: 0.01 }, { expected: 100 }, { text: '98.9' }, 0],
    ['number, path', { type: 'number', path: '$.sum' }, { expected: 4 }, { output: { sum: 4 } }, 1],
    ['number, none', 'number', { expected: 4 }, { text: 'four' }, 0],
    ['cost', { type: 'cost', max: 1 }, {}, {}, 1],
    ['latency', { type: 'latency', max: 20 }, {}, {}, 0.5],
    ['steps', { type: 'steps', max: 2 }, {}, {}, 1],
  ])('%s', async (_name, declaration, line, answer, expected) => {
    expect(await scored(parseScorer(declaration), line, answer)).toBe(expected);
  });

  it.each([
    ['exakt', /"exakt" is unknown: did you mean "exact"\?/],
    [{ type: 'exact', ignoreCas: true }, /no option "ignoreCas": did you mean "ignoreCase"\?/],
    [{ type: 'json', path: 'a.b' }, /The path "a\.b" is not of the form/],
    [{ type: 'cost' }, /needs "max"/],
    [{ type: 'rubric' }, /needs "rubric"/],
    [{ type: 'schema', schema: { type: 'objct' } }, /The schema of a scorer is invalid/],
    [7, /must be the name of a type/],
  ])('refuses %j', (declaration, fault) => expect(() => parseScorer(declaration)).toThrow(fault));
});

describe('the trajectory', () => {
  const call = (tool: string, args: object = {}): EvalCall => ({ tool, arguments: args, isSuccessful: true });
  const [a, b] = [call('a', { x: 1, y: 2 }), call('b')];
  const wanted = [{ tool: 'a', arguments: { x: 1 } }, { tool: 'b' }];

  it.each<['strict' | 'unordered' | 'subset' | 'superset', EvalCall[], number]>([
    ['strict', [a, b], 1],
    ['strict', [b, a], 0],
    ['strict', [a, b, b], 0],
    ['unordered', [b, a], 1],
    ['unordered', [a, a, b], 0],
    ['subset', [b], 1],
    ['subset', [b, call('c')], 0],
    ['subset', [b, b], 0],
    ['superset', [call('c'), b, a], 1],
    ['superset', [a], 0],
  ])('%s', async (mode, calls, expected) => {
    expect(await scored(score.trajectory({ mode }), { calls: wanted }, { calls })).toBe(expected);
  });

  it('compares arguments exactly, as a subset, not at all, or by a function', async () => {
    const of = (args: 'exact' | 'subset' | 'ignore' | ((actual: unknown) => boolean)) =>
      scored(score.trajectory({ arguments: args }), { calls: wanted }, { calls: [a, b] });
    expect([await of('exact'), await of('subset'), await of('ignore')]).toEqual([0, 1, 1]);
    expect([await of((actual) => Reflect.get(Object(actual), 'y') === 2), await of(() => false)]).toEqual([1, 0]);
  });

  it('finds the assignment of calls that matches most: the first that fits may be needed by another', async () => {
    const calls = [{ tool: 'a' }, { tool: 'a', arguments: { x: 1 } }];
    expect(await scored(score.trajectory({ mode: 'unordered' }), { calls }, { calls: [a, call('a')] })).toBe(1);
  });
});

describe('the statistics', () => {
  it('has the interval of Wilson', () => {
    // 8 of 10: Newcombe, Statistics in Medicine 17 (1998) and R's binom.wilson.
    const { low, high } = wilson(8, 10);
    expect([low.toFixed(4), high.toFixed(4)]).toEqual(['0.4902', '0.9433']);
    expect(wilson(0, 10)).toMatchObject({ low: 0, high: expect.closeTo(0.2775, 4) as number });
    expect(wilson(10, 10)).toMatchObject({ low: expect.closeTo(0.7225, 4) as number, high: 1 });
  });

  it('calls a difference worse from six lines against none', () => {
    const pairs = (lower: number, higher: number, same = 20) => [
      ...Array.from({ length: lower }, () => [1, 0] as const),
      ...Array.from({ length: higher }, () => [0, 1] as const),
      ...Array.from({ length: same }, () => [1, 1] as const),
    ];
    expect(signTest(pairs(5, 0))).toMatchObject({ verdict: 'within noise', p: 0.0625 });
    expect(signTest(pairs(6, 0))).toMatchObject({ verdict: 'worse', p: expect.closeTo(0.03125, 10) as number });
    expect(signTest(pairs(1, 9))).toMatchObject({ verdict: 'better', lower: 1, higher: 9 });
    expect(signTest(pairs(500, 500))).toMatchObject({ verdict: 'within noise', p: 1 });
    expect(signTest([])).toMatchObject({ verdict: 'within noise', p: 1 });
  });
});
