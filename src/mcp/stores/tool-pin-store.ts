import type { ScanFinding } from '../trust/description-scan.policy.js';
import type { PinnedDefinition } from '../trust/tool-digest.factory.js';

/** The accepted definition of a tool, if any, and the present one if it differs. */
export interface ToolPin {
  readonly tool: string;
  readonly accepted: Pinned | null;
  readonly pending: (Pinned & { readonly findings: readonly ScanFinding[] }) | null;
  /** Id of the principal who accepted it; `null` if it was accepted at first sight. */
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
