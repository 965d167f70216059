import type { Tool as McpTool } from '@modelcontextprotocol/client';
import type { HoldReason } from '../stores/tool-pin-store.js';
import type { ScanFinding } from './description-scan.policy.js';

/** A tool whose listed definition waits for a person. */
export interface QuarantinedTool {
  /** The tool's name on the server. */
  readonly tool: string;
  readonly reason: HoldReason;
  readonly findings: readonly ScanFinding[];
  /** Whether models do not receive the tool; otherwise its accepted definition stays in use. */
  readonly isHidden: boolean;
}

/** A tool for models. */
export interface UsableTool {
  /** Its definition in use, with the annotations that take effect. */
  readonly tool: McpTool;
  /** Set while a changed definition waits: the listed output schema, by which results are checked. */
  readonly waiting?: Pick<McpTool, 'outputSchema'>;
  /** Findings that do not hide the tool. */
  readonly warnings?: readonly ScanFinding[];
}

export interface JudgedTools {
  readonly usable: readonly UsableTool[];
  readonly quarantined: readonly QuarantinedTool[];
  /** Names on the server of tools with annotations that take effect only when a person accepts them. */
  readonly heldHints: readonly string[];
}
