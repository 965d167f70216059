import type { EntitySchemaOptions } from 'typeorm';

/** An approval that also covers later calls. */
export interface StoredApproval {
  readonly tenant: string;
  readonly id: string;
  /** `run`: calls of the run; `session`: calls of the runs of its session. */
  readonly scope: 'run' | 'session';
  /** The run of the approved call. */
  readonly runId: string;
  readonly sessionId: string | null;
  /** Id of the principal whose runs it covers. */
  readonly owner: string;
  readonly tool: string;
  /** SHA-256, hex, of the tool's definition. */
  readonly definition: string;
  /** JSON: the addresses in the arguments; encrypted if rows are. */
  readonly addresses: string;
  /** JSON: the principal who approved. */
  readonly decider: string;
  /** Epoch ms. */
  readonly decidedAt: number;
}

export const CallApprovalEntity: EntitySchemaOptions<StoredApproval> = {
  name: 'call_approval',
  withoutRowid: true,
  columns: {
    tenant: { type: 'varchar', length: 128, primary: true },
    id: { type: 'varchar', length: 64, primary: true },
    scope: { type: 'varchar', length: 16 },
    runId: { type: 'varchar', name: 'run_id', length: 64 },
    sessionId: { type: 'varchar', name: 'session_id', length: 128, nullable: true },
    owner: { type: 'varchar', length: 128 },
    tool: { type: 'varchar', length: 64 },
    definition: { type: 'varchar', length: 64 },
    addresses: { type: 'text' },
    decider: { type: 'text' },
    decidedAt: { type: 'bigint', name: 'decided_at' },
  },
  indices: [
    { name: 'call_approval_by_session', columns: ['tenant', 'sessionId', 'tool'] },
    { name: 'call_approval_by_run', columns: ['tenant', 'runId', 'tool'] },
  ],
};
