import { EXIT } from './cli.error.js';
import type { Call, Command } from './command.types.js';

type Probe = InstanceType<(typeof import('../llm/index.js'))['ModelProbe']>;
type Report = Awaited<ReturnType<Probe['run']>>;

const OUTCOME_WIDTH = 'not supported'.length;

/** Probes the configured model (docs/providers.md). */
export const PROBE_COMMAND: Command = {
  name: 'probe',
  summary: 'Check that the configured model can run agents, by calls to it; exit code 1 if it cannot',
  json: '{ provider, model, address, calls, rows, lines, automatic, isUsable, skipped }',
  run: probeModel,
};

/** @throws AppError `CONFIG_INVALID` */
async function probeModel({ terminal, interrupt, isJson }: Call): Promise<number> {
  const [{ readConfig }, { Logger }, { ModelProbe }] = await Promise.all([
    import('../config/index.js'),
    import('@nestjs/common'),
    import('../llm/index.js'),
  ]);
  const { config, warnings } = readConfig();
  for (const warning of warnings) terminal.note(`Warning: ${warning}`, 'yellow');
  // The report has all changes of requests that the log would have.
  Logger.overrideLogger(false);
  const probe = new ModelProbe(config.llm);
  try {
    const { plan } = probe;
    if (isJson) terminal.note(heading(plan));
    else terminal.line(heading(plan));
    const width = Math.max(...plan.checks.map((name) => name.length));
    const report = await probe.run(interrupt.signal, (row) => {
      if (!isJson) terminal.line(line(row, width));
    });
    const { checks: _checks, ...target } = plan;
    if (isJson) terminal.json({ ...target, ...report });
    else terminal.line(summary(report));
    return report.isUsable ? EXIT.ok : EXIT.failed;
  } catch (error) {
    if (interrupt.signal.aborted) process.stderr.write('The probe was interrupted.\n');
    throw error;
  } finally {
    await probe.close();
  }
}

function heading({ provider, model, address, calls }: Probe['plan']): string {
  const repeats = 'not counting repeats of refused and failed ones';
  return `Probing model ${model} of ${provider} at ${address} with at most ${calls} calls, ${repeats}.\n`;
}

function line({ check, outcome, detail }: Report['rows'][number], width: number): string {
  return `${check.padEnd(width)}  ${outcome.padEnd(OUTCOME_WIDTH)}  ${detail}`.trimEnd();
}

function summary({ lines, automatic, isUsable, skipped }: Report): string {
  const parts = [
    ...(skipped > 0 ? [`${skipped} further checks were not run: no chat works.`] : []),
    ...(automatic.length > 0 ? [`Without any setting, Jackdaw adapts requests: ${automatic.join(', ')}.`] : []),
    lines.length > 0 ? ['Adaptations for .env:', '', ...lines].join('\n') : 'No adaptations for .env.',
    isUsable
      ? 'The model can run agents: chat, streaming, tools and turns after tool results work.'
      : 'The model cannot run agents with these settings.',
  ];
  return `\n${parts.join('\n\n')}`;
}
