import { existsSync, readFileSync } from 'node:fs';
import type { Message } from '../../src/llm/chat/index.js';
import type { RunStatus } from '../../src/run/index.js';
import type { RunEvent } from '../../src/run/event/index.js';
import type { StoredTurnRow } from './chaos-archives.js';
import type { OpenChaosStore } from './chaos-stores.js';
import type { ToolName } from './chaos-plan.js';

/** An external effect of a tool, from the effects file. */
export interface Effect {
  readonly effect: 'read' | 'idempotent' | 'once';
  readonly tool: ToolName;
  /** The call, by the name that the model's script gave it. */
  readonly id: string;
  /** `<run>:tool:<place>`. */
  readonly key: string;
  readonly runId: string;
  /** Epoch ms. */
  readonly at: number;
}

export interface JournalStep {
  readonly name: string;
  readonly kind: string;
  readonly subject: string;
  readonly result: unknown;
  readonly epoch: number;
  readonly createdAt: number;
}

export interface JournalRun {
  readonly id: string;
  readonly sessionId: string | null;
  readonly status: RunStatus;
  readonly epoch: number;
  readonly query: string;
  readonly cancelRequestedAt: number | null;
  readonly createdAt: number;
  readonly finishedAt: number | null;
  readonly owner: string | null;
  readonly steps: ReadonlyMap<string, JournalStep>;
  readonly events: readonly RunEvent[];
  /** The event numbers as recorded. */
  readonly numbers: readonly number[];
}

export interface JournalTurn {
  readonly turn: number;
  readonly runId: string;
  readonly messages: readonly Message[];
}

export interface JournalSession {
  readonly id: string;
  readonly lastTurn: number;
  readonly messageCount: number;
  readonly turns: readonly JournalTurn[];
}

/** The content of a database after its processes are gone, and all external effects. */
export interface ChaosJournal {
  readonly runs: ReadonlyMap<string, JournalRun>;
  readonly sessions: readonly JournalSession[];
  readonly effects: readonly Effect[];
}

interface RunRow {
  readonly id: string;
  readonly session_id: string | null;
  readonly status: RunStatus;
  readonly epoch: number;
  readonly input: string;
  readonly cancel_requested_at: number | null;
  readonly created_at: number;
  readonly finished_at: number | null;
  readonly owner: string | null;
}
interface StepRow extends Omit<JournalStep, 'result' | 'createdAt'> {
  readonly run_id: string;
  readonly result: string;
  readonly created_at: number;
}
interface EventRow {
  readonly run_id: string;
  readonly n: number;
  readonly data: string;
}
interface SessionRow {
  readonly id: string;
  readonly last_turn: number;
  readonly message_count: number;
}

/** Reads the database directly, since the application's own reads may be wrong. */
export async function readJournal(store: OpenChaosStore, effectsFile: string): Promise<ChaosJournal> {
  const runs = await store.query<RunRow>('SELECT * FROM run ORDER BY created_at, id');
  const steps = Map.groupBy(await store.query<StepRow>('SELECT * FROM run_step'), ({ run_id }) => run_id);
  const events = await store.query<EventRow>('SELECT run_id, n, data FROM run_event ORDER BY run_id, n');
  const eventsByRun = Map.groupBy(events, ({ run_id }) => run_id);
  const sessions = await store.query<SessionRow>('SELECT id, last_turn, message_count FROM session');
  const turns = await (store.archived?.() ?? store.query<StoredTurnRow>('SELECT * FROM session_turn'));
  const inOrder = turns.toSorted((a, b) => a.turn - b.turn);
  const turnsBySession = Map.groupBy(inOrder, ({ session_id }) => session_id);
  return {
    runs: new Map(runs.map((run) => [run.id, toRun(run, steps.get(run.id) ?? [], eventsByRun.get(run.id) ?? [])])),
    sessions: sessions.map((session) => toSession(session, turnsBySession.get(session.id) ?? [])),
    effects: readEffects(effectsFile),
  };
}

export function readEffects(file: string): Effect[] {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, 'utf8').split('\n');
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as Effect);
}

function toRun(row: RunRow, steps: readonly StepRow[], events: readonly EventRow[]): JournalRun {
  return {
    id: row.id,
    sessionId: row.session_id,
    status: row.status,
    epoch: row.epoch,
    query: (JSON.parse(row.input) as { query: string }).query,
    cancelRequestedAt: row.cancel_requested_at,
    createdAt: row.created_at,
    finishedAt: row.finished_at,
    owner: row.owner,
    steps: new Map(steps.map((step) => [step.name, toStep(step)])),
    events: events.map(({ data }) => JSON.parse(data) as RunEvent),
    numbers: events.map(({ n }) => n),
  };
}

function toStep({ name, kind, subject, result, epoch, created_at }: StepRow): JournalStep {
  return { name, kind, subject, result: JSON.parse(result), epoch, createdAt: created_at };
}

function toSession({ id, last_turn, message_count }: SessionRow, turns: readonly StoredTurnRow[]): JournalSession {
  return {
    id,
    lastTurn: last_turn,
    messageCount: message_count,
    turns: turns.map(({ turn, run_id, messages }) => ({
      turn,
      runId: run_id,
      messages: JSON.parse(messages) as Message[],
    })),
  };
}
