import { mkdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { violationsOf, type Violation } from './chaos-check.js';
import { isPoisoned } from './chaos-check-run.js';
import type { ChaosWorld } from './chaos-world.js';

/** Sums of all observations. */
export interface Totals {
  readonly points: number;
  readonly runs: number;
  readonly turns: number;
  readonly messages: number;
  readonly acknowledged: number;
  readonly lost: number;
  readonly once: number;
  readonly repeated: number;
  readonly gaps: number;
  readonly hidden: number;
  /** Runs that were abandoned after their processes had died in the same step too often. */
  readonly poisoned: number;
  readonly stuck: number;
  readonly others: number;
}

export const NOTHING: Totals = {
  points: 0,
  runs: 0,
  turns: 0,
  messages: 0,
  acknowledged: 0,
  lost: 0,
  once: 0,
  repeated: 0,
  gaps: 0,
  hidden: 0,
  poisoned: 0,
  stuck: 0,
  others: 0,
};

export function add(a: Totals, b: Totals): Totals {
  const names = Object.keys(NOTHING) as (keyof Totals)[];
  return Object.fromEntries(names.map((name) => [name, a[name] + b[name]])) as unknown as Totals;
}

export interface Verdict {
  readonly totals: Totals;
  /** The violations, each with its history. */
  readonly report: string[];
  readonly violations: readonly Violation[];
}

/** Checks a world whose processes are gone. */
export async function judge(world: ChaosWorld, points: number): Promise<Verdict> {
  const journal = await world.journal();
  const violations = violationsOf(journal, world.ledger, world.outdatedFrom);
  for (const runId of world.unheard)
    violations.push({ kind: 'stuck', runId, text: 'a follower never received its end' });
  for (const text of world.refusals())
    violations.push({ kind: 'history', runId: null, text: `a model was asked: ${text}` });
  const of = (...kinds: Violation['kind'][]) => violations.filter(({ kind }) => kinds.includes(kind)).length;
  const totals: Totals = {
    points,
    runs: journal.runs.size,
    turns: journal.sessions.reduce((sum, { turns }) => sum + turns.length, 0),
    messages: journal.sessions.reduce((sum, { messageCount }) => sum + messageCount, 0),
    acknowledged: world.ledger.size,
    lost: of('lost'),
    once: journal.effects.filter(({ effect }) => effect === 'once').length,
    repeated: of('repeated'),
    gaps: world.gaps.size,
    hidden: of('hidden gap'),
    poisoned: [...journal.runs.values()].filter(isPoisoned).length,
    stuck: of('stuck'),
    others: of('history', 'journal', 'end'),
  };
  const report = violations.map(({ kind, runId, text }) => {
    const run = runId === null ? undefined : journal.runs.get(runId);
    const effects = journal.effects.filter((effect) => effect.runId === runId);
    return JSON.stringify({ kind, text, run: run && { ...run, steps: [...run.steps.values()] }, effects }, null, 1);
  });
  if (report.length > 0) report.push(world.story.join('\n'), world.logs.join('\n'));
  return { totals, report, violations };
}

/** Writes the full report of violations, if any, to a file. */
export function storeReport({ report }: Verdict, name: string): void {
  if (report.length === 0) return;
  const folder = join(tmpdir(), 'jackdaw-chaos-violations');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `${name.replaceAll(' ', '-')}.txt`), report.join('\n'));
}

/** The totals of each store as a table. */
export function toTable(rows: ReadonlyMap<string, Totals>): string {
  const names = Object.keys(NOTHING) as (keyof Totals)[];
  const width = Math.max(...[...rows.keys()].map((name) => name.length), 5);
  const line = (first: string, cells: readonly (string | number)[]) =>
    [first.padEnd(width), ...cells.map((cell, i) => String(cell).padStart(Math.max(names[i]!.length, 7)))].join('  ');
  return [
    line('', names),
    ...[...rows].map(([name, totals]) =>
      line(
        name,
        names.map((key) => totals[key]),
      ),
    ),
  ].join('\n');
}
