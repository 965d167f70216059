// Probes the configured model (docs/providers.md): `npm run probe:model [-- --json]`. Exit code 1 if agents cannot work.
import 'reflect-metadata';
import { Logger } from '@nestjs/common';
import { parseArgs } from 'node:util';
import { readConfig } from './config/index.js';
import { AppError, messageOf } from './errors/index.js';
import { ModelProbe } from './llm/index.js';

type Plan = ModelProbe['plan'];
type Report = Awaited<ReturnType<ModelProbe['run']>>;

const OUTCOME_WIDTH = 'not supported'.length;

const interrupt = new AbortController();
process.once('SIGINT', () => interrupt.abort());
// A reader that closes the output, such as `head`, needs no further calls.
process.stdout.on('error', () => interrupt.abort());

try {
  process.exitCode = await probeModel(hasJsonFlag(process.argv.slice(2)));
} catch (error) {
  process.exitCode = interrupt.signal.aborted ? 130 : 1;
  const isOurs = error instanceof AppError;
  const text = isOurs ? error.message : error instanceof Error ? error.stack : String(error);
  process.stderr.write(interrupt.signal.aborted ? 'The probe was interrupted.\n' : `${text}\n`);
}

/** @returns the exit code @throws AppError `CONFIG_INVALID` */
async function probeModel(isJson: boolean): Promise<number> {
  const { config, warnings } = readConfig();
  for (const warning of warnings) process.stderr.write(`Warning: ${warning}\n`);
  // The report has all changes of requests that the log would have.
  Logger.overrideLogger(false);
  const probe = new ModelProbe(config.llm);
  try {
    const { plan } = probe;
    process[isJson ? 'stderr' : 'stdout'].write(heading(plan));
    const width = Math.max(...plan.checks.map((name) => name.length));
    const report = await probe.run(interrupt.signal, (row) => {
      if (!isJson) process.stdout.write(line(row, width));
    });
    const { checks: _checks, ...target } = plan;
    process.stdout.write(isJson ? `${JSON.stringify({ ...target, ...report }, null, 2)}\n` : summary(report));
    return report.isUsable ? 0 : 1;
  } finally {
    await probe.close();
  }
}

function hasJsonFlag(args: string[]): boolean {
  try {
    return parseArgs({ args, options: { json: { type: 'boolean', default: false } } }).values.json;
  } catch (error) {
    throw new AppError('CONFIG_INVALID', `${messageOf(error)}\nUsage: npm run probe:model [-- --json]`);
  }
}

function heading({ provider, model, address, calls }: Plan): string {
  const repeats = 'not counting repeats of refused and failed ones';
  return `Probing model ${model} of ${provider} at ${address} with at most ${calls} calls, ${repeats}.\n\n`;
}

function line({ check, outcome, detail }: Report['rows'][number], width: number): string {
  return `${check.padEnd(width)}  ${outcome.padEnd(OUTCOME_WIDTH)}  ${detail}`.trimEnd() + '\n';
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
  return `\n${parts.join('\n\n')}\n`;
}
