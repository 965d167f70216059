import type { ToolApproval, ToolEffect } from '../tool/index.js';

/** An agent of another server that speaks A2A, as a tool; docs/a2a.md. */
export interface RemoteAgentDeclaration {
  /** Name of the tool. */
  readonly name: string;
  /** Description for the model: purpose of the agent and when to ask it. The text of the card reaches no model. */
  readonly description: string;
  /** URL of the agent, whose card is below it at `.well-known/agent-card.json`, or URL of its card, which ends in `.json`. */
  readonly url: string;
  /** Sent with each request to the origin of the URL, such as `authorization`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** SHA-256 (hex) of the accepted card; by default the first card is accepted. */
  readonly card?: string;
  /** Time limit of a call without the waits for people, in ms; default 300,000. */
  readonly timeoutMs?: number;
  /** Default `once`. */
  readonly effect?: ToolEffect;
  readonly approval?: ToolApproval;
  /** Whether a call can carry data out or change something; default true. */
  readonly egress?: boolean;
  /** Whether the answers may contain untrusted text; default true. */
  readonly untrusted?: boolean;
  /** Whether the answers are private data; default: if requests have headers. */
  readonly private?: boolean;
  /** Maximum concurrent calls in this process. */
  readonly concurrency?: number;
}

/** A declaration with its defaults. */
export interface RemoteAgent extends Omit<RemoteAgentDeclaration, 'headers'> {
  readonly cardUrl: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  /** Place of the declaration, for messages. */
  readonly source: string;
}
