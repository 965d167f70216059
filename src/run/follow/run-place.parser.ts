/** A place in what a run tells: after a journaled event, and after so much of the message that is being told. */
export interface RunPlace {
  /** The number of the last journaled event; 0 before the first. */
  readonly n: number;
  /** Which telling of a message; 0 for none. Of two tellings in a run, the later one has the greater number. */
  readonly attempt: number;
  /** What of the message's text has been told in this attempt, in UTF-16 units. */
  readonly offset: number;
}

/** Before everything. */
export const START: RunPlace = { n: 0, attempt: 0, offset: 0 };

const EVENT = /^\d{1,9}$/;
const TEXT = /^(\d{1,9})\.(\d{1,15})\.(\d{1,10})$/;

/** Reads an SSE id: `n` of a journaled event, `n.attempt.offset` of a live one. @returns `null` when it is neither */
export function parseRunPlace(id: string): RunPlace | null {
  if (EVENT.test(id)) return { ...START, n: Number(id) };
  const [, n, attempt, offset] = TEXT.exec(id) ?? [];
  return n === undefined ? null : { n: Number(n), attempt: Number(attempt), offset: Number(offset) };
}
