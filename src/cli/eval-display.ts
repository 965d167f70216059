import type { EvalReport } from '../testing/eval/index.js';
import type { Terminal } from './terminal.js';

type Result = EvalReport['results'][number];
type Rate = EvalReport['passRate'];

const MOST_LISTED = 20;

/** Shows evals to people. */
export class EvalDisplay {
  private listed = 0;

  constructor(
    private readonly terminal: Terminal,
    private readonly isJson: boolean,
  ) {}

  /** A repetition that has not passed; the first ones only. */
  result({ line, repetition, isPassed, error, scores, runId }: Result): void {
    if (this.isJson || isPassed || ++this.listed > MOST_LISTED) return;
    const reasons = Object.entries(scores).flatMap(([name, { score, reason }]) =>
      score < 1 ? [`${name} ${rounded(score)}: ${reason}`] : [],
    );
    const reason = [...(error === undefined ? [] : [error]), ...reasons].join('; ');
    this.terminal.line(`failed  ${line} #${repetition}  ${reason}  (run ${runId})`);
    if (this.listed === MOST_LISTED) this.terminal.line('further failed lines: --report or --json has them');
  }

  report(report: EvalReport): void {
    if (this.isJson) return;
    const { name, passRate, scorers, usage, judgeUsage, latencyMs, comparison, gates } = report;
    this.terminal.line(`${name}: ${rate(passRate)}`, 'bold');
    this.terminal.table(
      [{ title: 'scorer' }, { title: 'mean', align: 'right' }, { title: 'passed' }],
      Object.entries(scorers).map(([scorer, figures]) => [scorer, rounded(figures.mean), rate(figures.passRate)]),
    );
    const judged = judgeUsage.tokens > 0 ? `, judges ${judgeUsage.tokens} tokens, cost ${judgeUsage.cost}` : '';
    this.terminal.line(
      `${usage.tokens} tokens, cost ${usage.cost}${judged}; latency ${latencyMs.median} ms (median), ${latencyMs.p95} ms (p95)`,
    );
    if (comparison) this.compared(comparison);
    for (const { gate, limit, actual, isPassed } of gates) {
      const outcome = isPassed ? 'passed' : 'FAILED';
      this.terminal.line(`gate ${gate}: ${rounded(actual)}, limit ${limit}: ${outcome}`, isPassed ? 'green' : 'red');
    }
  }

  private compared({ passRate, scorers, broken, fixed, lines }: NonNullable<EvalReport['comparison']>): void {
    this.terminal.line(`Compared with the baseline over ${lines} lines (sign test, 5 %):`);
    for (const [name, { before, after, verdict, p }] of Object.entries({ 'pass rate': passRate, ...scorers }))
      this.terminal.line(`  ${name}: ${rounded(before)} → ${rounded(after)}, ${verdict} (p = ${rounded(p)})`);
    if (broken.length > 0) this.terminal.line(`  broken: ${broken.slice(0, MOST_LISTED).join(', ')}`);
    if (fixed.length > 0) this.terminal.line(`  fixed: ${fixed.slice(0, MOST_LISTED).join(', ')}`);
  }
}

function rate({ passed, total, rate: share, low, high }: Rate): string {
  return `${passed} of ${total}, ${percent(share)} (95 %: ${percent(low)} to ${percent(high)})`;
}

function percent(share: number): string {
  return `${Math.round(share * 1000) / 10} %`;
}

function rounded(value: number): string {
  return String(Math.round(value * 1000) / 1000);
}
