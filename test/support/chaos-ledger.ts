import type { SseEvent } from './event-stream.js';

/** A chat as its client sent it. */
export interface SentChat {
  readonly query: string;
  /** The id that the client sent, if any. */
  readonly session?: string;
  /** The chat of the same session that was answered before this one was sent. */
  readonly after?: string;
}

/** A run that a client received an acknowledgement for. */
export interface AcceptedRun extends SentChat {
  /** The answer, if the client received it. */
  readonly result?: string;
}

export interface AcceptedDecision {
  readonly runId: string;
  readonly requestId: string;
  readonly kind: string;
}

/** A session as its clients read it over REST. */
export interface ReadSession {
  readonly turnCount: number;
  readonly messageCount: number;
  readonly turns: readonly ReadTurn[];
}

export interface ReadTurn {
  readonly turn: number;
  readonly runId: string;
  /** The messages in the form of `toText`. */
  readonly messages: string;
}

/** Everything that clients were promised. It outlives every process. */
export class ChaosLedger {
  readonly accepted = new Map<string, AcceptedRun>();
  readonly decisions: AcceptedDecision[] = [];
  /** Time of the confirmed cancel, epoch ms, by run. */
  readonly cancels = new Map<string, number>();
  /** Journaled events by run and number, as JSON. */
  readonly events = new Map<string, Map<number, string>>();
  /** Every turn that was read, by session and number. */
  readonly turns = new Map<string, ReadTurn & { readonly session: string }>();
  /** The content of each session at the end. */
  readonly sessions = new Map<string, ReadSession>();
  /** Events that arrived twice with different contents. */
  readonly contradictions: string[] = [];

  accept(runId: string, chat: SentChat, result?: string): void {
    this.accepted.set(runId, { ...this.accepted.get(runId), ...chat, ...(result !== undefined && { result }) });
  }

  record(runId: string, events: readonly SseEvent[]): void {
    const published = this.events.get(runId) ?? new Map<number, string>();
    this.events.set(runId, published);
    for (const { id, data } of events) {
      if (id === null || !Number.isInteger(id)) continue;
      const text = JSON.stringify(data);
      if ((published.get(id) ?? text) !== text)
        this.contradictions.push(`${runId} event ${id}: ${published.get(id)} and ${text}`);
      published.set(id, text);
    }
  }

  /** Records the turns of a session; a turn that was read before must be equal. */
  read(session: string, { turns }: ReadSession): void {
    for (const turn of turns) {
      const place = `${session} ${turn.turn}`;
      const before = this.turns.get(place);
      if (before && (before.runId !== turn.runId || before.messages !== turn.messages))
        this.contradictions.push(`turn ${place}: ${before.messages} and ${turn.messages}`);
      this.turns.set(place, { ...turn, session });
    }
  }

  /** Number of acknowledged items. */
  get size(): number {
    const events = [...this.events.values()].reduce((sum, published) => sum + published.size, 0);
    return this.accepted.size + this.decisions.length + this.cancels.size + this.turns.size + events;
  }
}
