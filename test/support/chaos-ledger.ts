import type { SseEvent } from './event-stream.js';

/** A chat as its client sent it. */
export interface SentChat {
  readonly query: string;
  /** The id that the client gave, if it gave one. */
  readonly session?: string;
  /** The chat of the same session whose answer had come before this one was sent. */
  readonly after?: string;
}

/** A run that a client was told of. */
export interface AcceptedRun extends SentChat {
  /** The answer, when the client has it. */
  readonly result?: string;
}

export interface AcceptedDecision {
  readonly runId: string;
  readonly requestId: string;
  readonly kind: string;
}

/** What clients were told, and so rely on. It outlives every process. */
export class ChaosLedger {
  readonly accepted = new Map<string, AcceptedRun>();
  readonly decisions: AcceptedDecision[] = [];
  /** When a cancel was confirmed, epoch ms, by run. */
  readonly cancels = new Map<string, number>();
  /** Journaled events by run and number, as JSON. */
  readonly events = new Map<string, Map<number, string>>();
  /** An event came twice with different contents. */
  readonly contradictions: string[] = [];

  accept(runId: string, chat: SentChat, result?: string): void {
    this.accepted.set(runId, { ...this.accepted.get(runId), ...chat, ...(result !== undefined && { result }) });
  }

  tell(runId: string, events: readonly SseEvent[]): void {
    const told = this.events.get(runId) ?? new Map<number, string>();
    this.events.set(runId, told);
    for (const { id, data } of events) {
      if (id === null || !Number.isInteger(id)) continue;
      const text = JSON.stringify(data);
      if ((told.get(id) ?? text) !== text)
        this.contradictions.push(`${runId} event ${id}: ${told.get(id)} and ${text}`);
      told.set(id, text);
    }
  }

  /** How many things were acknowledged. */
  get size(): number {
    const events = [...this.events.values()].reduce((sum, told) => sum + told.size, 0);
    return this.accepted.size + this.decisions.length + this.cancels.size + events;
  }
}
