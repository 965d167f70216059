import type { Transport } from '@modelcontextprotocol/client';
import type { AppConfig } from '../../config/index.js';
import type { ChildLedger } from '../process/child-ledger.store.js';

/** What connections need of the world. */
export interface McpWorld {
  readonly config: Pick<AppConfig, 'mcp' | 'outgoing'>;
  readonly ledger: ChildLedger;
}

/** How messages come to a server. */
export interface Way {
  readonly transport: Transport;
  readonly pid: () => number | null;
  /** Why it ended, if the server is a program that did. */
  readonly fault: () => string | undefined;
  /** Ends it, with a word to the server where one is due. */
  readonly close: () => Promise<void>;
  /** What a person is to consent to before anything else can be done, while that is so. */
  readonly consent?: () => Promise<void> | null;
}

export interface WayOptions {
  /** Hears of all that comes, in bytes. */
  readonly onReceived: (bytes: number) => void;
  /** Is aborted when the connection is given up. */
  readonly signal: AbortSignal;
}
