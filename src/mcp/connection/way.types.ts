import type { Transport } from '@modelcontextprotocol/client';

/** How messages get to a server and back. */
export interface Way {
  readonly transport: Transport;
  readonly close: () => Promise<void>;
  readonly fault: () => string | undefined;
  /** What a person is to consent to before anything else can be done, while that is so. */
  readonly consent?: () => Promise<void> | null;
}

export interface WayOptions {
  /** Hears of all that comes, in bytes. */
  readonly onReceived: (bytes: number) => void;
  /** Is aborted when the connection is given up. */
  readonly signal: AbortSignal;
}
