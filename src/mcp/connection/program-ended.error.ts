/** A program ended before the connection was complete; the first request may have been too new for it. */
export class ProgramEndedError extends Error {
  constructor(fault: string, cause: unknown) {
    super(fault, { cause });
    this.name = 'ProgramEndedError';
  }
}
