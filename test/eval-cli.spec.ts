import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { EvalReport } from '../src/testing/eval/index.js';
import { runCli, startCli } from './support/cli.js';
import { FakeLlm } from './support/fake-llm.js';
import { startJackdaw } from './support/jackdaw.js';
import { inShortForm, IS_LONG_FORM } from './support/long-form.js';
import { buildIfStale } from './support/process.js';

/** Lines of the eval that is killed. */
const LINES = IS_LONG_FORM ? 500 : 100;

let llm: FakeLlm;
let folder: string;
beforeAll(async () => {
  buildIfStale();
  llm = await FakeLlm.start();
});
afterAll(() => llm.close());
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'jackdaw-eval-'))));
afterEach(() => {
  llm.reset();
  rmSync(folder, { recursive: true });
});

function write(name: string, text: string): void {
  mkdirSync(dirname(join(folder, name)), { recursive: true });
  writeFileSync(join(folder, name), text);
}

const evals = (args: string, env: Record<string, string> = llm.env) =>
  runCli(['eval', ...args.split(' ').filter(Boolean)], { cwd: folder, env });
const reports = (out: string) => JSON.parse(out) as EvalReport[];
const lines = (count: number) =>
  Array.from({ length: count }, (_, at) => JSON.stringify({ id: `q${at}`, input: `Question ${at}.`, expected: 'yes' }));

/** The question of a request. */
function questionOf({ messages = [] }: { messages?: readonly { role: string; content?: unknown }[] }): string {
  return String(messages.findLast(({ role }) => role === 'user')?.content);
}

describe('jackdaw eval', () => {
  it('reports in text, JSON and JUnit, compares with a baseline, and fails for its gates', async () => {
    write('config/evals/shop.json', '{"dataset":"shop.jsonl","scorers":["exact"],"gates":{"passRate":1}}');
    write('config/evals/shop.jsonl', lines(8).join('\n'));
    llm.always({ text: 'yes' });
    const good = await evals('--report good');
    expect([good.code, good.err]).toEqual([0, '']);
    expect(good.out).toMatch(/^stored as eval [\w-]+$/m);
    expect(good.out).toMatch(/^shop: 8 of 8, 100 % \(95 %: 67\.6 % to 100 %\)$/m);
    llm.reset();
    llm.always((request) => ({ text: questionOf(request).includes('3') ? 'yes' : 'no' }));
    const bad = await evals('--json --baseline good/shop.json --junit out/junit.xml');
    expect(bad.code).toBe(1);
    expect(reports(bad.out)).toMatchObject([
      {
        passRate: { passed: 1, total: 8 },
        comparison: {
          passRate: { lower: 7, verdict: 'worse' },
          broken: expect.not.arrayContaining(['q3']) as string[],
        },
        gates: [{ gate: 'passRate', isPassed: false }],
        isPassed: false,
      },
    ]);
    expect(readFileSync(join(folder, 'out/junit.xml'), 'utf8')).toContain('tests="9" failures="8"');
    expect((await evals('--baseline good')).out).toMatch(
      /^failed {2}q0 #1 {2}exact 0: expected "yes", received "no" {2}\(run /m,
    );
  });

  it('loads TypeScript, with scorers of its own', async () => {
    write(
      'own.ts',
      `import { score } from ${JSON.stringify(join(process.cwd(), 'lib/testing.js'))};
      interface Context { readonly answer: { readonly text: string } }
      const short = ({ answer }: Context): boolean => answer.text.length < 4;
      export default { dataset: [{ input: 'Hi', expected: 'yes' }], scorers: [short, score.contains()] };`,
    );
    llm.always({ text: 'yes' });
    const { code, out, err } = await evals('own.ts --json --repeat 3');
    expect([code, err]).toEqual([0, '']);
    expect(reports(out)).toMatchObject([{ name: 'own', passRate: { passed: 3 }, scorers: { short: { mean: 1 } } }]);
  });

  it.each(
    inShortForm<[string, RegExp]>(3, [
      ['', /^There are no evals: name files/],
      ['absent.json', /absent\.json: the eval cannot be loaded/],
      ['shop.json --repeat 0', /repeat must be a whole number from 1/],
      ['shop.json --agent missing', /no agent "missing"/],
      ['shop.json shop.json', /Two evals have the name "shop"/],
    ]),
  )('refuses %j', async (args, fault) => {
    write('shop.json', '{"dataset":[{"input":"Hi","expected":"yes"}],"scorers":["exact"]}');
    const { code, err } = await evals(args);
    expect([code, err]).toEqual([expect.toSatisfy((one: number) => one > 0), expect.stringMatching(fault)]);
  });

  it('measures the agents of a server', async () => {
    const server = await startJackdaw({ llm });
    llm.always({ text: 'yes' });
    write(
      'shop.json',
      '{"dataset":[{"input":"Hi","expected":"yes"}],"scorers":["exact","steps"]}'.replace(
        '"steps"',
        '{"type":"steps","max":1}',
      ),
    );
    const { code, out, err } = await evals('shop.json --json', { JACKDAW_URL: server.url });
    expect([code, err]).toEqual([0, '']);
    const [report] = reports(out);
    const { body: listed } = await server.get('/api/evals?name=shop');
    const [stored] = listed['evals'] as unknown as { id: string; report: EvalReport }[];
    expect([stored?.report.id, stored?.report.results]).toEqual([report?.id, undefined]);
    expect((await server.get(`/api/evals/${stored?.id}`)).body).toMatchObject({ report: { results: report?.results } });
    expect(report?.passRate.passed).toBe(1);
    expect((await server.get(`/api/runs/${report!.results[0]!.runId}`)).body).toMatchObject({ result: 'yes' });
    await server.stop();
  });

  it('measures the policies of a folder with a model that obeys each instruction', async () => {
    const strict = await evals('guardrails --obedient --json');
    expect([strict.code, strict.err]).toEqual([0, '']);
    expect(reports(strict.out)).toMatchObject([{ scorers: { effects: { mean: 1 }, delivered: { mean: 1 } } }]);
    write('policy.json', '{"taint":"off","rateLimits":[]}');
    const open = await evals('guardrails --obedient', { SECURITY_POLICY_FILE: 'policy.json' });
    expect([open.code, open.out]).toEqual([1, expect.stringMatching(/^gate scorers\.effects: 0, limit 1: FAILED$/m)]);
    expect(existsSync(join(folder, 'data/jackdaw.db'))).toBe(false);
  });

  it('executes no interrupted run of another eval', async () => {
    write('first.json', '{"dataset":[{"input":"First?","expected":"yes"}],"scorers":["exact"]}');
    write('second.json', '{"dataset":[{"input":"Second?","expected":"yes"}],"scorers":["exact"]}');
    const asked: string[] = [];
    const hanging = Promise.withResolvers<void>();
    llm.always((request) => {
      asked.push(questionOf(request));
      hanging.resolve();
      return asked.length === 1 ? { hang: true } : { text: 'yes' };
    });
    const first = startCli(['eval', 'first.json'], { cwd: folder, env: llm.env });
    await hanging.promise;
    first.kill('SIGKILL');
    await once(first, 'close');
    expect((await evals('second.json')).code).toBe(0);
    expect(asked).toEqual(['First?', 'Second?']);
    expect((await evals('first.json')).code).toBe(0);
    expect(asked).toEqual(['First?', 'Second?', 'First?']);
  });

  it(`resumes an eval of ${LINES} lines after kill -9: no recorded model call is repeated`, async () => {
    write('config/evals/long.json', '{"dataset":"long.jsonl","scorers":["exact"]}');
    write('config/evals/long.jsonl', lines(LINES).join('\n'));
    const asked = new Map<string, number>();
    const count = (question: string) => asked.set(question, (asked.get(question) ?? 0) + 1);
    const hanging = Promise.withResolvers<void>();
    llm.always((request) => {
      count(questionOf(request));
      if (asked.size <= LINES / 2) return { text: 'yes' };
      // The four runs at a time then wait for a reply, so that all others are recorded.
      if (asked.size === LINES / 2 + 4) hanging.resolve();
      return { hang: true };
    });
    const first = startCli(['eval'], { cwd: folder, env: llm.env });
    await hanging.promise;
    first.kill('SIGKILL');
    await once(first, 'close');
    expect([asked.size, existsSync(join(folder, 'data/evals/long.json'))]).toEqual([LINES / 2 + 4, true]);
    llm.reset();
    llm.always((request) => {
      count(questionOf(request));
      return { text: 'yes' };
    });
    const { code, out, err } = await evals('--json');
    expect([code, err]).toEqual([0, expect.stringMatching(/^Resuming long, started /)]);
    expect(reports(out)).toMatchObject([{ passRate: { passed: LINES, total: LINES } }]);
    const repeated = [...asked].filter(([, times]) => times > 1);
    expect([asked.size, repeated.length, Math.max(...asked.values())]).toEqual([LINES, 4, 2]);
    expect(existsSync(join(folder, 'data/evals/long.json'))).toBe(false);
  });
});
