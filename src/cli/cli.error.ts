/** Exit codes (docs/cli.md). */
export const EXIT = { ok: 0, failed: 1, usage: 2, waiting: 3, locked: 78, interrupted: 130 } as const;

/** An error of the command line itself. */
export class CliError extends Error {
  constructor(
    readonly code: string,
    message: string,
    readonly exitCode: number = EXIT.failed,
  ) {
    super(message);
    this.name = 'CliError';
  }
}

/** A wrong call of a command. */
export function usageError(message: string): CliError {
  return new CliError('USAGE', message, EXIT.usage);
}
