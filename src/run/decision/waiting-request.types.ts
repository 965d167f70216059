import type { WaitFact } from '../facts/data-facts.js';
import type { JsonSchema } from '../../kernel/json/index.js';

/**
 * Kinds of requests: approval of a call, an answer to a tool's question, the outcome of an unknown call, a child run, or the
 * release of a run in a copied or restored database.
 */
export type WaitingKind = 'approval' | 'input' | 'outcome_unknown' | 'child' | 'restored';

/** A decision that a call waits for: of a person or, with the kind `child`, within the child run; wire form. */
export interface WaitingRequest {
  /** Unique in the run: `approval:1:2`. */
  readonly id: string;
  readonly kind: WaitingKind;
  /** The step that waits: `tool:1:2`; empty with the kind `restored`, as are the call and the tool. */
  readonly step: string;
  readonly call_id: string;
  readonly tool: string;
  /** The call's arguments as JSON text, verbatim. */
  readonly arguments: string;
  /** Why approval is needed, or why the outcome is unknown. */
  readonly reason?: string;
  /** The facts by which the call waits, with their sources; with the kind `approval` only. */
  readonly facts?: WaitFact[];
  /** The settings that would change the decision; with `facts` only. */
  readonly settings?: string[];
  /**
   * Coverage of an approval with the scope `run` or `session`: calls of this definition (SHA-256, hex) with no other
   * hosts and e-mail addresses than these. Present if the call waits by the rule of three facts alone.
   */
  readonly covers?: { readonly definition: string; readonly addresses: string[] };
  /** Whether only a second person may approve; with the kind `approval` only. */
  readonly by_another?: true;
  /** Only principals with one of these roles may approve; with the kind `approval` only. */
  readonly by_roles?: string[];
  /** Whether the client of the request executes the call and answers with its result; with the kind `input` only. */
  readonly by_client?: true;
  /** The tool's question; with the kind `input` only. */
  readonly question?: string;
  /** The JSON Schema of an answer; without it any JSON value is valid. */
  readonly schema?: JsonSchema;
  /** The call's child run; with the kind `child` only. */
  readonly child_run_id?: string;
  /** Expiry in epoch ms; `null` for never. */
  readonly expires_at: number | null;
}
