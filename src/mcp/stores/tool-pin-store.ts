import type { ScanFinding } from '../trust/description-scan.policy.js';
import type { PinnedDefinition } from '../trust/definition-difference.mapper.js';

/**
 * Why a definition waits: it differs from the accepted one, it is a new tool of a known server, or it was suspicious
 * at first sight or in an update. Wire format.
 */
export type HoldReason = 'changed' | 'new' | 'suspicious';

/** The definition of a tool in use, if any, and the listed one if it waits. */
export interface ToolPin {
  readonly tool: string;
  /** The definition in use: accepted by a person, at first sight, or followed. */
  readonly accepted: Pinned | null;
  readonly pending: (Pinned & { readonly findings: readonly ScanFinding[]; readonly reason: HoldReason }) | null;
  /** The annotations that take effect; `null` if all of the definition in use do. */
  readonly hints: Readonly<Record<string, unknown>> | null;
  /** The server's version that last listed the definition in use; `null` if unknown. */
  readonly version: string | null;
  /** Id of the principal who accepted it; `null` if no person did. */
  readonly decidedBy: string | null;
  /** Epoch ms. */
  readonly changedAt: number;
}

export interface Pinned {
  /** SHA-256, hex. */
  readonly digest: string;
  readonly definition: PinnedDefinition;
}

/** The port to the stored definitions of servers' tools. */
export abstract class ToolPinStore {
  /** Pins by the tools' names on the server, in order. */
  abstract of(server: string): Promise<ReadonlyMap<string, ToolPin>>;

  /** Adds unknown tools; an existing pin is not changed. */
  abstract add(server: string, pins: readonly ToolPin[]): Promise<void>;

  /** Replaces pins. */
  abstract replace(server: string, pins: readonly ToolPin[]): Promise<void>;

  abstract forget(server: string): Promise<void>;
}
