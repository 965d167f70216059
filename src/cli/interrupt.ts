import { EXIT } from './cli.error.js';

/** The interrupts of a command: Ctrl+C, and an output that its reader has closed. */
export class Interrupt {
  private controller = new AbortController();
  private isEnding = false;
  private hasNoReader = false;

  /** Aborted by Ctrl+C. */
  get signal(): AbortSignal {
    return this.controller.signal;
  }

  /** Whether the reader of the output, such as `head`, has closed it. */
  get isUnread(): boolean {
    return this.hasNoReader;
  }

  /** Listens for Ctrl+C and SIGTERM. A second one ends the process at once. */
  listen(): void {
    const receive = () => {
      if (this.isEnding) process.exit(EXIT.interrupted);
      this.isEnding = true;
      this.controller.abort();
    };
    process.on('SIGINT', receive);
    process.on('SIGTERM', receive);
    for (const stream of [process.stdout, process.stderr]) {
      stream.on('error', ({ code }: NodeJS.ErrnoException) => {
        if (code !== 'EPIPE') return;
        this.hasNoReader = true;
        this.controller.abort();
      });
    }
  }

  /** As Ctrl+C at a prompt, which the terminal does not send as a signal. */
  trigger(): void {
    this.controller.abort();
  }

  /** A new signal after an interrupt that ended a part of the command only. */
  renew(): void {
    this.isEnding = false;
    if (this.controller.signal.aborted && !this.hasNoReader) this.controller = new AbortController();
  }
}
