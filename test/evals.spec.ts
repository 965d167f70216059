import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Cassette, Tool, ToolNode, WorkflowBuilder } from '../src/index.js';
import type { EvalAnswer } from '../src/testing/eval/eval.types.js';
import { createTestAgent, ScriptedModel } from '../src/testing/index.js';
import { type EvalDefinition, evaluate, loadEval, score, toJunit } from '../src/testing/eval/index.js';

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'jackdaw-evals-'))));
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true });
});

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

class ShopTools {
  @Tool({
    description: 'Looks up a price.',
    effect: 'read',
    input: { type: 'object', properties: { item: { type: 'string' } }, required: ['item'] },
  })
  price({ item }: { readonly item: string }): number {
    return item.length;
  }
}

describe('evaluate', () => {
  const script = () =>
    new ScriptedModel([
      { when: { result: '4' }, reply: '4', times: 'any' },
      { when: { text: 'lamp' }, reply: { calls: [{ name: 'price', arguments: { item: 'lamp' } }] }, times: 'any' },
      { when: { text: 'fail' }, reply: { fault: 400 }, times: 'any' },
      { reply: 'no idea', times: 'any' },
    ]);
  const dataset = () =>
    file(
      'prices.jsonl',
      [
        '{"id":"lamp","input":"Price of the lamp?","expected":"4","calls":[{"tool":"price","arguments":{"item":"lamp"}}]}',
        '{"id":"sofa","input":"Price of the sofa?","expected":"5"}',
        '{"id":"fail","input":"fail","expected":"6"}',
      ].join('\n'),
    );

  it('reports scores, rates, usage and gates', async () => {
    const agent = await createTestAgent({ tools: [ShopTools], script: script() });
    const short = ({ answer }: { readonly answer: EvalAnswer }) => answer.text.length < 5;
    const report = await evaluate({
      agent,
      dataset: dataset(),
      scorers: [score.exact(), score.trajectory(), { ...score.latency({ max: 1e9 }), isTracked: true }, short],
      repeat: 2,
      gates: { passRate: 0.3, scorers: { exact: 0.5 } },
    });
    await agent.close();
    expect(report).toMatchObject({
      name: 'prices',
      lines: 3,
      repeat: 2,
      passRate: { passed: 2, total: 6, rate: expect.closeTo(1 / 3, 10) as number },
      scorers: { exact: { mean: expect.closeTo(1 / 3, 10) as number }, trajectory: { passRate: { passed: 4 } } },
      usage: { tokens: 90, cost: 0 },
      gates: [
        { gate: 'passRate', isPassed: true },
        { gate: 'scorers.exact', limit: 0.5, isPassed: false },
      ],
      isPassed: false,
    });
    expect(
      report.results.map(({ line, repetition, isPassed, status }) => [line, repetition, isPassed, status]),
    ).toEqual([
      ['lamp', 1, true, 'completed'],
      ['lamp', 2, true, 'completed'],
      ['sofa', 1, false, 'completed'],
      ['sofa', 2, false, 'completed'],
      ['fail', 1, false, 'failed'],
      ['fail', 2, false, 'failed'],
    ]);
    expect(report.results[2]).toMatchObject({
      text: 'no idea',
      scores: { exact: { score: 0, reason: 'expected "5", received "no idea"' }, short: { score: 0 } },
    });
    expect(report.results[4]?.error).toMatch(/^MODEL_REFUSED: /);
    const xml = toJunit([report]);
    expect(xml).toContain('<testsuite name="prices" tests="8" failures="5"');
    expect(xml).toContain('exact 0: expected &quot;5&quot;, received &quot;no idea&quot;');
  });

  it('reuses finished runs of the same id, and starts failed ones again', async () => {
    const agent = await createTestAgent({ tools: [ShopTools], script: script() });
    const run = () => evaluate({ agent, id: 'release-7', dataset: dataset(), scorers: [score.exact()] });
    const first = await run();
    expect(agent.script.requests.length).toBe(4);
    const second = await run();
    expect(agent.script.requests.length).toBe(5);
    const ids = (report: typeof first) => report.results.map(({ runId }) => runId);
    expect(ids(second).slice(0, 2)).toEqual(ids(first).slice(0, 2));
    expect(ids(second)[2]).not.toBe(ids(first)[2]);
    await evaluate({ agent, dataset: dataset(), scorers: [score.exact()] });
    expect(agent.script.requests.length).toBe(9);
    await agent.close();
  });

  it('compares with a baseline, line by line', async () => {
    const lines = Array.from({ length: 12 }, (_, at) => ({ id: `${at}`, input: `Question ${at}`, expected: 'good' }));
    const run = async (reply: string, baseline?: Awaited<ReturnType<typeof evaluate>>) => {
      const agent = await createTestAgent({ script: [{ reply, times: 'any' }] });
      const more = baseline && { baseline, gates: { maxWorse: 0, maxBroken: 3 } };
      const report = await evaluate({ agent, dataset: lines, scorers: [score.exact()], ...more });
      await agent.close();
      return report;
    };
    const good = await run('good');
    expect((await run('good', good)).comparison).toMatchObject({ passRate: { verdict: 'within noise' }, broken: [] });
    expect(await run('bad', good)).toMatchObject({
      comparison: { lines: 12, passRate: { before: 1, after: 0, lower: 12, verdict: 'worse' } },
      gates: [
        { gate: 'maxWorse', actual: 2, isPassed: false },
        { gate: 'maxBroken', actual: 12, isPassed: false },
      ],
    });
    expect((await run('good', await run('bad'))).comparison).toMatchObject({ passRate: { verdict: 'better' } });
  });

  it('asks a judge, with a cassette and a cost of its own', async () => {
    // With it, no cassette records.
    vi.stubEnv('CI', '');
    const agent = await createTestAgent({ script: [{ reply: 'Good day!', times: 'any' }] });
    const judged = async (mode: 'record' | 'replay', model: ScriptedModel) => {
      const judge = await createTestAgent({
        script: model,
        cassette: new Cassette(join(folder, 'judge.jsonl'), { mode }),
      });
      const scorers = [score.rubric({ judge, rubric: 'It is polite.' })];
      const report = await evaluate({ agent, id: 'judged', dataset: [{ id: '1', input: 'Hi' }], scorers });
      await judge.close();
      return [report, model.requests.length] as const;
    };
    const verdict = JSON.stringify({ reason: 'It greets.', score: 0.8 });
    const [first, asked] = await judged('record', new ScriptedModel([verdict]));
    expect(asked).toBe(1);
    expect(first.results[0]).toMatchObject({
      isPassed: true,
      scores: { rubric: { score: 0.8, reason: 'It greets.' } },
    });
    expect([first.usage.tokens, first.judgeUsage.tokens]).toEqual([15, 15]);
    const [second, calls] = await judged('replay', new ScriptedModel());
    expect([second.results[0]?.scores, calls]).toEqual([first.results[0]?.scores, 0]);
    await agent.close();
  });

  it('does not score an answer without a verdict of the judge', async () => {
    const replies = [
      { when: { text: 'Rubric' }, reply: '{"reason":"?","score":7}', times: 'any' as const },
      { reply: 'Hi', times: 'any' as const },
    ];
    const agent = await createTestAgent({ script: replies, limits: { maxIterations: 2 } });
    const scorers = [score.rubric({ rubric: 'It is polite.' })];
    const report = await evaluate({ agent, dataset: [{ id: '1', input: 'Hello' }], scorers });
    expect(report.results[0]).toMatchObject({
      isPassed: false,
      scores: { rubric: { score: 0, reason: expect.stringMatching(/^The judge gave no score/) as string } },
    });
    await agent.close();
  });

  it('evaluates a workflow, also from a dataset of its production runs', async () => {
    const workflow = new WorkflowBuilder('quote')
      .add(new ToolNode('look', 'price', { item: '{{input.item}}' }))
      .build();
    const agent = await createTestAgent({ tools: [ShopTools], workflows: [workflow], script: [] });
    const lines = [
      { id: 'r1', input: { item: 'lamp' }, expected: { result: 4 }, metadata: { agent: 'workflow:quote' } },
      { id: 'r2', input: { item: 'sofa' }, expected: { result: 5 }, metadata: { agent: 'workflow:quote' } },
    ];
    const page = file('page.json', JSON.stringify({ lines, next: null }, null, 2));
    const options = { agent, workflow: 'quote', id: 'once', scorers: [score.exact()] };
    const report = await evaluate({ ...options, dataset: page });
    expect(report).toMatchObject({ workflow: 'quote', passRate: { passed: 1, total: 2 } });
    expect(report.results).toMatchObject([
      { line: 'r1', status: 'completed', text: '{"result":4}', isPassed: true },
      { line: 'r2', isPassed: false },
    ]);
    const again = await evaluate({ ...options, dataset: lines });
    expect(again.results.map(({ runId }) => runId)).toEqual(report.results.map(({ runId }) => runId));
    const wrong = [{ id: '1', input: 'lamp', expected: '4' }];
    await expect(evaluate({ ...options, dataset: wrong })).rejects.toThrow(/line "1" must be an object/);
    await agent.close();
  });

  it.each<[object, RegExp]>([
    [{ workflow: 'quote' }, /line "1" must be an object, since a workflow answers/],
    [{ workflow: 'quote', agentName: 'default' }, /an agent or a workflow, not both/],
    [{ workflow: 'quote', dataset: [{ id: '1', input: {} }] }, /no workflow "quote"/],
    [{ dataset: [{ id: '1', input: {} }] }, /line "1" must be a text, since an agent answers/],
    [{ repeat: 0 }, /repeat must be a whole number from 1/],
    [{ scorers: [] }, /needs at least one scorer/],
    [{ scorers: [score.exact(), score.exact()] }, /Two scorers have the name "exact"/],
    [{ gates: { passrate: 1 } }, /gates: "passrate" is unknown; did you mean "passRate"/],
    [{ gates: { scorers: { exakt: 1 } } }, /"exakt" is unknown; did you mean "exact"/],
    [{ gates: { maxWorse: 0 } }, /need a baseline/],
    [{ dataset: [{ id: '1', input: 'Hi' }] }, /Line "1" has no "expected"/],
    [{ agentName: 'other' }, /no agent "other"/],
  ])('refuses %j', async (options, fault) => {
    const agent = await createTestAgent({ script: [{ reply: 'Hi', times: 'any' }] });
    const whole = { agent, dataset: [{ id: '1', input: 'Hi', expected: 'Hi' }], scorers: [score.exact()] };
    await expect(evaluate({ ...whole, ...options })).rejects.toThrow(fault);
    await agent.close();
  });
});

describe('the file of an eval', () => {
  it('is JSON, or a module with scorers of its own', async () => {
    file('q.jsonl', '{"input":"Hi","expected":"Hi"}');
    const definition: EvalDefinition = {
      agent: 'shop',
      dataset: 'q.jsonl',
      scorers: ['exact'],
      gates: { passRate: 1 },
    };
    const json = file('a.json', JSON.stringify(definition));
    expect(await loadEval(json)).toMatchObject({ name: 'a', agentName: 'shop', dataset: join(folder, 'q.jsonl') });
    const module = file(
      'b.mjs',
      'export default { dataset: [{ input: "Hi" }], scorers: [({ answer }) => answer.text === "Hi"] };',
    );
    const agent = await createTestAgent({ script: ['Hi'] });
    expect(await evaluate({ ...(await loadEval(module)), agent })).toMatchObject({ name: 'b', passRate: { rate: 1 } });
    await agent.close();
  });

  it.each([
    ['a.json', '{', /a\.json: the eval cannot be loaded/],
    [
      'a.json',
      '{"dataset":"x","scorers":["exact"],"scorer":1}',
      /"scorer" is no member of an eval: did you mean "scorers"\?/,
    ],
    ['a.json', '{"scorers":["exact"]}', /"dataset" must be a path or a list of lines/],
    ['a.json', '{"dataset":[{}],"scorers":["exact"]}', /a\.json: dataset:1: "input"/],
    ['a.yaml', '', /an eval is a file with the ending \.json/],
    ['a.mjs', 'export const a = 1;', /an eval must be an object/],
  ])('is refused: %s %s', async (name, text, fault) => {
    await expect(loadEval(file(name, text))).rejects.toThrow(fault);
  });
});
