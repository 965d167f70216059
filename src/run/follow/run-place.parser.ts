/** A position in a run's output: after a journaled event, and within the text of the streamed message. */
export interface RunPlace {
  /** The number of the last journaled event; 0 before the first. */
  readonly n: number;
  /** The attempt at the message; 0 outside of a message. Later attempts in a run have greater numbers. */
  readonly attempt: number;
  /** Length of the text received in this attempt, in UTF-16 units. */
  readonly offset: number;
}

/** Before the first event. */
export const START: RunPlace = { n: 0, attempt: 0, offset: 0 };

const EVENT = /^\d{1,9}$/;
const TEXT = /^(\d{1,9})\.(\d{1,15})\.(\d{1,10})$/;

/** Parses an SSE id: `n` of a journaled event, `n.attempt.offset` of a live one. @returns `null` for any other text */
export function parseRunPlace(id: string): RunPlace | null {
  if (EVENT.test(id)) return { ...START, n: Number(id) };
  const [, n, attempt, offset] = TEXT.exec(id) ?? [];
  return n === undefined ? null : { n: Number(n), attempt: Number(attempt), offset: Number(offset) };
}
