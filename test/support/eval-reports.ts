/** The report of an eval with one line. */
export function evalReport(changes: Readonly<Record<string, unknown>> = {}) {
  const rate = { passed: 1, total: 1, rate: 1, low: 0.2, high: 1 };
  const usage = { tokens: 15, cost: 0.001 };
  return {
    name: 'refunds',
    id: 'nightly',
    revision: 'r',
    startedAt: '2026-01-31T09:00:00.000Z',
    lines: 1,
    repeat: 1,
    passRate: rate,
    scorers: { exact: { mean: 1, passRate: rate } },
    usage,
    judgeUsage: { tokens: 0, cost: 0 },
    latencyMs: { median: 90, p95: 90 },
    gates: [{ gate: 'passRate', limit: 0.9, actual: 1, isPassed: true }],
    isPassed: true,
    results: [
      {
        line: 'lamp',
        input: 'What does the lamp cost?',
        repetition: 1,
        isPassed: true,
        scores: { exact: { score: 1, reason: 'equal' } },
        runId: 'run',
        status: 'completed',
        text: '40',
        durationMs: 90,
        steps: 1,
        usage,
      },
    ],
    ...changes,
  };
}
