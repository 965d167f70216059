import type { EntitySchemaOptions } from 'typeorm';
import type { HoldReason } from '../stores/tool-pin-store.js';

/** The definition of a server's tool in use, and the listed one if it differs. */
export interface StoredToolPin {
  readonly server: string;
  /** The tool's name on the server. */
  readonly tool: string;
  /** SHA-256, hex; `null` if the tool was never accepted. */
  readonly digest: string | null;
  /** JSON. */
  readonly definition: string | null;
  readonly pendingDigest: string | null;
  readonly pendingDefinition: string | null;
  /** JSON: findings of the scan in the pending definition. */
  readonly findings: string | null;
  /** Why the pending definition waits; `null` in rows of older versions. */
  readonly reason: HoldReason | null;
  /** JSON: the annotations that take effect, if they differ from those of the definition in use. */
  readonly hints: string | null;
  /** The server's version that last listed the definition in use. */
  readonly version: string | null;
  /** Id of the principal who accepted it; `null` if it was accepted at first sight. */
  readonly decidedBy: string | null;
  /** Epoch ms. */
  readonly changedAt: number;
}

export const McpToolPinEntity: EntitySchemaOptions<StoredToolPin> = {
  name: 'mcp_tool_pin',
  withoutRowid: true,
  columns: {
    server: { type: 'varchar', length: 32, primary: true },
    tool: { type: 'varchar', length: 128, primary: true },
    digest: { type: 'varchar', length: 64, nullable: true },
    definition: { type: 'text', nullable: true },
    pendingDigest: { type: 'varchar', name: 'pending_digest', length: 64, nullable: true },
    pendingDefinition: { type: 'text', name: 'pending_definition', nullable: true },
    findings: { type: 'text', nullable: true },
    reason: { type: 'varchar', length: 16, nullable: true },
    hints: { type: 'text', nullable: true },
    version: { type: 'varchar', length: 128, nullable: true },
    decidedBy: { type: 'varchar', name: 'decided_by', length: 128, nullable: true },
    changedAt: { type: 'bigint', name: 'changed_at' },
  },
};
