import { JournaledRunContext } from '../../src/run/context/journaled-run-context.js';
import { RunOutbox } from '../../src/run/run-outbox.js';
import type { RunRecord } from '../../src/run/run.types.js';
import { aRun, type RunHost } from './run-host.js';

/** A run that a process executes, without a loop. */
export interface RunExecution {
  readonly run: RunRecord;
  readonly context: JournaledRunContext;
  /** The events that followers received, in order. */
  readonly published: string[];
}

export async function newExecution(host: RunHost, id: string): Promise<RunExecution> {
  const { run } = await host.journal.create(aRun(id), 'running', 1);
  return executionOf(host, run);
}

/** The next execution of a run, as after a crash. */
export async function nextExecution(host: RunHost, { run }: RunExecution): Promise<RunExecution> {
  const { run: claimed } = await host.journal.claim((await host.journal.find(run.id))!, 1);
  return executionOf(host, claimed);
}

/** The events that the journal holds, with their numbers. */
export async function storedEvents(host: RunHost, runId: string): Promise<string[]> {
  return (await host.events(runId)).map(({ n, event }) => `${n} ${event.type}`);
}

async function executionOf(host: RunHost, run: RunRecord): Promise<RunExecution> {
  const steps = new Map((await host.journal.steps(run.id)).map((step) => [step.name, step]));
  const outbox = new RunOutbox(
    run,
    host.bus,
    await host.journal.lastEvent(run.id),
    host.journal.cipher,
    host.journal.budget,
  );
  const published: string[] = [];
  host.bus.subscribe(run.id, ({ n, event }) => published.push(`${n ?? '-'} ${event.type}`));
  return { run, published, context: new JournaledRunContext(run, host.journal, outbox, steps, new AbortController()) };
}
