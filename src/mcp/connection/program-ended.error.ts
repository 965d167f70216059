/** A program came to its end before it was connected to; what it was asked may have been too new for it. */
export class ProgramEndedError extends Error {
  constructor(fault: string, cause: unknown) {
    super(fault, { cause });
    this.name = 'ProgramEndedError';
  }
}
