import type { Message } from '../../src/llm/chat/index.js';
import type { RunEvent } from '../../src/run/event/index.js';
import { isEnded } from './chaos-check-run.js';
import type { Violation } from './chaos-check.js';
import type { ChaosJournal, JournalRun, JournalSession, JournalTurn } from './chaos-journal.js';
import type { ChaosLedger } from './chaos-ledger.js';

/** Sessions are lists of whole turns, each of one run, in the order that their clients saw. */
export function sessionViolations({ sessions, runs }: ChaosJournal, ledger: ChaosLedger): Violation[] {
  const say =
    (runId: string | null) =>
    (text: string): Violation => ({ kind: 'history', runId, text });
  const places = new Map(sessions.flatMap(({ turns }) => turns.map((turn) => [turn.runId, turn.turn] as const)));
  return [
    ...sessions.flatMap((session) => countFaults(session).map((text) => say(null)(`session ${session.id}: ${text}`))),
    ...sessions.flatMap(({ turns }) =>
      turns.flatMap((turn) => turnFaults(turn, runs.get(turn.runId)).map(say(turn.runId))),
    ),
    ...[...runs.values()].flatMap((run) => placeFaults(run, places.get(run.id)).map(say(run.id))),
    ...orderFaults(ledger, places).map(say(null)),
  ];
}

/** Every run that has started and ended has its turn, and every other run has none. */
function placeFaults({ status, epoch }: JournalRun, place: number | undefined): string[] {
  const hasTurn = place !== undefined;
  return hasTurn === (isEnded(status) && epoch > 0) ? [] : [`it is ${status} and has turn ${place}`];
}

function orderFaults({ accepted }: ChaosLedger, places: ReadonlyMap<string, number>): string[] {
  const runs = new Map([...accepted].map(([runId, { query }]) => [query, runId]));
  return [...accepted].flatMap(([runId, { after }]) => {
    const before = runs.get(after ?? '') ?? '';
    const isLater = (places.get(before) ?? 0) > (places.get(runId) ?? Infinity);
    return isLater ? [`the turn of ${runId} stands before that of ${before}, which was answered first`] : [];
  });
}

function countFaults({ lastTurn, messageCount, turns }: JournalSession): string[] {
  const faults: string[] = [];
  if (turns.some(({ turn }, i) => turn !== i + 1))
    faults.push(`its turns are ${turns.map(({ turn }) => turn).join(' ')}`);
  if (turns.length !== lastTurn) faults.push(`it has ${turns.length} turns and says ${lastTurn}`);
  const messages = turns.reduce((sum, turn) => sum + turn.messages.length, 0);
  if (messages !== messageCount) faults.push(`it has ${messages} messages and says ${messageCount}`);
  return faults;
}

/** A turn starts with its run's message, and every call in it has exactly one result right after it, in order. */
function turnFaults({ messages }: JournalTurn, run: JournalRun | undefined): string[] {
  if (!run) return ['its turn is there, and it is not'];
  const [first, ...rest] = messages;
  const wanted = rest.flatMap((message) => (message.role === 'assistant' ? ['assistant', ...callsOf(message)] : []));
  const there = rest.map((message) => (message.role === 'tool' ? message.toolCallId : message.role));
  return [
    ...(first?.role === 'user' && first.content === run.query ? [] : [`its turn begins with ${JSON.stringify(first)}`]),
    ...(there.join() === wanted.join() ? [] : [`its turn is ${there.join(' ')}: calls and results are not pairs`]),
    ...answerFaults(messages.at(-1), run.events.at(-1)),
  ];
}

function answerFaults(last: Message | undefined, end: RunEvent | undefined): string[] {
  if (end?.type !== 'run.completed' || (last?.role === 'assistant' && last.content === end.result)) return [];
  return [`it answered "${end.result}", and its turn ends with ${JSON.stringify(last)}`];
}

function callsOf(message: Extract<Message, { role: 'assistant' }>): string[] {
  return (message.toolCalls ?? []).map(({ id }) => id);
}
