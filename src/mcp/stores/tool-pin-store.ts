import type { ScanFinding } from '../trust/description-scan.policy.js';
import type { PinnedDefinition } from '../trust/tool-digest.factory.js';

/** A tool as it was accepted, if it was, and as it is now, where that is something else. */
export interface ToolPin {
  readonly tool: string;
  readonly accepted: Pinned | null;
  readonly pending: (Pinned & { readonly findings: readonly ScanFinding[] }) | null;
  /** Who accepted it; `null` for who was there first. */
  readonly decidedBy: string | null;
  /** Epoch ms. */
  readonly changedAt: number;
}

export interface Pinned {
  /** SHA-256, hex. */
  readonly digest: string;
  readonly definition: PinnedDefinition;
}

/** The port to where it is kept what servers' tools were like. */
export abstract class ToolPinStore {
  /** By the server's names of them, in order. */
  abstract of(server: string): Promise<ReadonlyMap<string, ToolPin>>;

  /** Remembers tools that were not known; who did so first stands. */
  abstract add(server: string, pins: readonly ToolPin[]): Promise<void>;

  /** Takes the place of what was known. */
  abstract replace(server: string, pins: readonly ToolPin[]): Promise<void>;

  abstract forget(server: string): Promise<void>;
}
