import type { Message } from '../../src/llm/chat/index.js';
import type { Violation } from './chaos-check.js';
import type { ChaosJournal, JournalSession } from './chaos-journal.js';
import type { ChaosLedger, ReadSession } from './chaos-ledger.js';

/** Turns per page: few, so that reads use several pages. */
const PAGE = 1;

interface ShownSession {
  readonly turn_count: number;
  readonly message_count: number;
}
interface ShownMessage {
  readonly turn: number;
  readonly run_id: string;
  readonly role: Message['role'];
  readonly content: unknown;
  readonly tool_calls?: unknown;
  readonly tool_call_id?: string;
}
interface ShownPage {
  readonly messages: readonly ShownMessage[];
  readonly next: number | null;
}

/** Reads a session over REST, page by page. @param get takes a path under `sessions/` */
export async function readSession(get: <T>(path: string) => Promise<T>, id: string): Promise<ReadSession> {
  const { turn_count, message_count } = await get<ShownSession>(id);
  const messages: ShownMessage[] = [];
  for (let after: number | null = 0; after !== null;) {
    const page: ShownPage = await get<ShownPage>(`${id}/messages?limit=${PAGE}&after=${after}`);
    messages.push(...page.messages);
    after = page.next;
  }
  const turns = [...Map.groupBy(messages, ({ turn }) => turn)].map(([turn, all]) => ({
    turn,
    runId: all[0]!.run_id,
    messages: toText(all),
  }));
  return { turnCount: turn_count, messageCount: message_count, turns };
}

/** Every turn that was read remains, and the final read equals the stored data. */
export function readingViolations({ sessions }: ChaosJournal, ledger: ChaosLedger): Violation[] {
  const stored = new Map<string, string>(
    sessions.flatMap(({ id, turns }) =>
      turns.map(({ turn, runId, messages }) => [`${id} ${turn}`, `${runId} ${toText(messages)}`] as const),
    ),
  );
  const gone = [...ledger.turns].filter(([place, turn]) => stored.get(place) !== `${turn.runId} ${turn.messages}`);
  return [
    ...gone.map(([place, { runId, messages }]) => {
      const text = `turn ${place} was read as ${messages}, and is ${stored.get(place)}`;
      return { kind: 'lost' as const, runId, text };
    }),
    ...sessions.flatMap((session) =>
      countFaults(session, ledger.sessions.get(session.id)).map((text) => {
        return { kind: 'history' as const, runId: null, text: `session ${session.id}: ${text}` };
      }),
    ),
  ];
}

function countFaults({ lastTurn, messageCount, turns }: JournalSession, read: ReadSession | undefined): string[] {
  if (!read) return ['no request could read it'];
  const shown = `${read.turnCount} turns, ${read.messageCount} messages: ${read.turns.map(({ turn }) => turn).join(' ')}`;
  const there = `${lastTurn} turns, ${messageCount} messages: ${turns.map(({ turn }) => turn).join(' ')}`;
  return shown === there ? [] : [`the API shows ${shown}, and the database has ${there}`];
}

/** The content of messages in a common form, for both of their formats. */
function toText(messages: readonly (Message | ShownMessage)[]): string {
  return JSON.stringify(
    messages.map((message) => {
      const { role, content } = message;
      const { toolCalls, toolCallId } = message as { toolCalls?: unknown; toolCallId?: string };
      const { tool_calls = toolCalls, tool_call_id = toolCallId } = message as Partial<ShownMessage>;
      return { role, content, tool_calls, tool_call_id };
    }),
  );
}
