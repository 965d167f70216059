import type { Transport } from '@modelcontextprotocol/client';
import type { AppConfig } from '../../config/index.js';
import type { ChildLedger } from '../process/child-ledger.store.js';

/** Shared dependencies of connections. */
export interface McpWorld {
  readonly config: Pick<AppConfig, 'mcp' | 'outgoing'>;
  readonly ledger: ChildLedger;
}

/** A transport to a server, with its life cycle. */
export interface ServerTransport {
  readonly transport: Transport;
  readonly pid: () => number | null;
  /** Why the program ended, if the server is a program that has ended. */
  readonly fault: () => string | undefined;
  /** Ends the transport, and the session of the server, if it has one. */
  readonly close: () => Promise<void>;
  /** The consent of a person that must precede other messages, while one is pending. */
  readonly consent?: () => Promise<void> | null;
}

export interface TransportOptions {
  /** Receives the number of received bytes. */
  readonly onReceived: (bytes: number) => void;
  /** Aborted when the connection is abandoned. */
  readonly signal: AbortSignal;
}
