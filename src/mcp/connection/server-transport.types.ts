import type { Transport } from '@modelcontextprotocol/client';
import type { McpClientConfig, SecurityConfig } from '../../config/namespaces/index.js';
import type { ChildLedger } from '../process/child-ledger.store.js';

/** Shared dependencies of connections. */
export interface McpWorld {
  readonly config: McpClientConfig;
  readonly outgoing: SecurityConfig['outgoing'];
  readonly ledger: ChildLedger;
}

/** A transport to a server, with its life cycle. */
export interface ServerTransport {
  readonly transport: Transport;
  readonly pid: () => number | null;
  /** Why the program ended, if the server is a program that has ended. */
  readonly fault: () => string | undefined;
  /** Adds the last output of a program to the text of an error. */
  readonly explain?: (text: string) => string;
  /** Ends the transport, and the session of the server, if it has one. */
  readonly close: () => Promise<void>;
  /** The consent of a person that must precede other messages, while one is pending. */
  readonly consent?: () => Promise<void> | null;
}

/** The wait for the `endpoint` event of a server that may speak the transport of 2024. */
export interface EndpointWait {
  readonly timeoutMs: number;
  /** Set when the event has named an address for messages. */
  isReceived: boolean;
}

export interface TransportOptions {
  /** Receives the number of received bytes. */
  readonly onReceived: (bytes: number) => void;
  /** Aborted when the connection is abandoned. */
  readonly signal: AbortSignal;
  readonly endpoint?: EndpointWait;
}
