import { sessionViolations } from './chaos-check-history.js';
import { runViolations } from './chaos-check-run.js';
import { readingViolations } from './chaos-sessions.js';
import type { ChaosJournal, Effect, JournalRun } from './chaos-journal.js';
import type { AcceptedDecision, AcceptedRun, ChaosLedger } from './chaos-ledger.js';

/** A broken guarantee. */
export interface Violation {
  readonly kind: 'lost' | 'repeated' | 'hidden gap' | 'stuck' | 'history' | 'journal' | 'end';
  readonly runId: string | null;
  readonly text: string;
}

/**
 * All rules for a database whose processes are gone, and whose runs have all ended.
 * @param outdatedFrom epoch ms from which runs may end because no process supports their loop version
 */
export function violationsOf(journal: ChaosJournal, ledger: ChaosLedger, outdatedFrom = Infinity): Violation[] {
  const effects = Map.groupBy(journal.effects, ({ runId }) => runId);
  return [
    ...[...journal.runs.values()].flatMap((run) => runViolations(run, effects.get(run.id) ?? [], outdatedFrom)),
    ...sessionViolations(journal, ledger),
    ...readingViolations(journal, ledger),
    ...lost(journal, ledger),
    ...repeated(journal),
  ];
}

/** Everything that clients were promised, compared with the journal. */
function lost({ runs }: ChaosJournal, ledger: ChaosLedger): Violation[] {
  const say =
    (runId: string | null) =>
    (text: string): Violation => ({ kind: 'lost', runId, text });
  const cancelled = [...ledger.cancels.keys()].filter((runId) => !isCancelled(runs.get(runId)));
  return [
    ...ledger.contradictions.map(say(null)),
    ...[...ledger.accepted].flatMap(([runId, accepted]) => messageFaults(runs.get(runId), accepted).map(say(runId))),
    ...[...ledger.events].flatMap(([runId, published]) => publishedFaults(runs.get(runId), published).map(say(runId))),
    ...ledger.decisions.flatMap((one) => decisionFaults(runs.get(one.runId), one).map(say(one.runId))),
    ...cancelled.map((runId) => say(runId)('its cancel was accepted, and is not there')),
  ];
}

function isCancelled(run: JournalRun | undefined): boolean {
  return run?.status === 'cancelled' || (run?.cancelRequestedAt ?? null) !== null;
}

function messageFaults(run: JournalRun | undefined, { query, result }: AcceptedRun): string[] {
  if (!run) return [`the message ${query} was accepted, and its run is not there`];
  if (run.query !== query) return [`the message ${query} was accepted, the run's is ${run.query}`];
  const end = run.events.at(-1);
  if (result === undefined || (end && 'result' in end && end.result === result)) return [];
  return [`it answered "${result}", and has ended with ${JSON.stringify(end)}`];
}

function publishedFaults(run: JournalRun | undefined, published: ReadonlyMap<number, string>): string[] {
  const recorded = new Map(run?.events.map((event, i) => [run.numbers[i], JSON.stringify(event)]));
  const wrong = [...published].filter(([n, text]) => recorded.get(n) !== text);
  return wrong.map(([n, text]) => `its event ${n} was published as ${text}, and is stored as ${recorded.get(n)}`);
}

function decisionFaults(run: JournalRun | undefined, { requestId, kind }: AcceptedDecision): string[] {
  const answer = run?.steps.get(`answer:${requestId}`);
  return answer?.subject === kind ? [] : [`"${kind}" of ${requestId} was accepted, recorded is ${answer?.subject}`];
}

/** A call of a `once` tool happens at most once; a call of an `idempotent` tool repeats with the same key only. */
function repeated({ effects, runs }: ChaosJournal): Violation[] {
  const found: Violation[] = [];
  for (const [key, all] of Map.groupBy(effects, (effect) => effect.key)) {
    const [{ effect, runId, tool }] = all as [Effect];
    if (effect === 'once' && all.length > 1)
      found.push({ kind: 'repeated', runId, text: `${tool} with key ${key} happened ${all.length} times` });
    if (!runs.has(runId))
      found.push({ kind: 'lost', runId, text: `${tool} with key ${key} happened, and its run is not there` });
  }
  for (const [id, all] of Map.groupBy(effects, (effect) => effect.id)) {
    const keys = new Set(all.map(({ key }) => key));
    if (keys.size > 1)
      found.push({
        kind: 'repeated',
        runId: all[0]!.runId,
        text: `call ${id} happened with the keys ${[...keys].join(', ')}`,
      });
  }
  return found;
}
