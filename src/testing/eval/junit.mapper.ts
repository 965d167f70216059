import type { EvalReport, EvalResult, GateOutcome } from './eval-report.types.js';

/** Characters that XML 1.0 cannot contain. */
const FORBIDDEN =
  /(?![\t\n\r])[\p{Cc}\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/gu;
const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

/** Reports as JUnit XML: a suite for each eval, a case for each repetition and gate. */
export function toJunit(reports: readonly EvalReport[]): string {
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<testsuites>',
    ...reports.flatMap(suite),
    '</testsuites>',
    '',
  ].join('\n');
}

function suite({ name, results, gates, startedAt }: EvalReport): string[] {
  const failed = results.filter(({ isPassed }) => !isPassed).length + gates.filter(({ isPassed }) => !isPassed).length;
  const seconds = results.reduce((sum, { durationMs }) => sum + durationMs, 0) / 1000;
  const counts = `tests="${results.length + gates.length}" failures="${failed}" time="${seconds}"`;
  return [
    `  <testsuite name="${escape(name)}" ${counts} timestamp="${escape(startedAt)}">`,
    ...results.map((result) => testCase(name, result)),
    ...gates.map((gate) => gateCase(name, gate)),
    '  </testsuite>',
  ];
}

function testCase(eval_: string, result: EvalResult): string {
  const name = `${result.line} #${result.repetition}`;
  const head = `    <testcase classname="${escape(eval_)}" name="${escape(name)}" time="${result.durationMs / 1000}"`;
  if (result.isPassed) return `${head}/>`;
  const reasons = Object.entries(result.scores).map(([scorer, { score, reason }]) => `${scorer} ${score}: ${reason}`);
  const detail = [...(result.error === undefined ? [] : [result.error]), ...reasons, `run ${result.runId}`].join('\n');
  const message = result.error ?? 'below the least score';
  return `${head}><failure message="${escape(message)}">${escape(detail)}</failure></testcase>`;
}

function gateCase(eval_: string, { gate, limit, actual, isPassed }: GateOutcome): string {
  const head = `    <testcase classname="${escape(eval_)}" name="gate ${escape(gate)}"`;
  return isPassed ? `${head}/>` : `${head}><failure message="${actual}, limit ${limit}"/></testcase>`;
}

function escape(text: string): string {
  return text.replace(FORBIDDEN, '\ufffd').replace(/[&<>"]/g, (character) => ENTITIES[character]!);
}
