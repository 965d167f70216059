import { Injectable } from '@nestjs/common';
import { Database } from '../../persistence/index.js';
import type { ScanFinding } from '../trust/description-scan.policy.js';
import type { PinnedDefinition } from '../trust/tool-digest.factory.js';
import { type Pinned, type ToolPin, ToolPinStore } from './tool-pin-store.js';

interface PinRow {
  readonly tool: string;
  readonly digest: string | null;
  readonly definition: string | null;
  readonly pending_digest: string | null;
  readonly pending_definition: string | null;
  readonly findings: string | null;
  readonly decided_by: string | null;
  readonly changed_at: number;
}

const COLUMNS = 'tool, digest, definition, pending_digest, pending_definition, findings, decided_by, changed_at';

/** Stores pins in the table `mcp_tool_pin`. */
@Injectable()
export class DatabaseToolPinStore extends ToolPinStore {
  constructor(private readonly database: Database) {
    super();
  }

  async of(server: string): Promise<ReadonlyMap<string, ToolPin>> {
    const sql = `SELECT ${COLUMNS} FROM mcp_tool_pin WHERE server = ? ORDER BY tool`;
    const rows = await this.database.query<PinRow>(sql, [server]);
    return new Map(rows.map((row) => [row.tool, toPin(row)]));
  }

  async add(server: string, pins: readonly ToolPin[]): Promise<void> {
    if (pins.length === 0) return;
    await this.database.commit(pins.map((pin) => this.database.insertIgnore('mcp_tool_pin', toRow(server, pin))));
  }

  async replace(server: string, pins: readonly ToolPin[]): Promise<void> {
    if (pins.length === 0) return;
    await this.database.commit(
      pins.map((pin) => this.database.upsert('mcp_tool_pin', [toRow(server, pin)], ['server', 'tool'])),
    );
  }

  async forget(server: string): Promise<void> {
    await this.database.commit([{ sql: 'DELETE FROM mcp_tool_pin WHERE server = ?', params: [server] }]);
  }
}

function toPin(row: PinRow): ToolPin {
  const pending = pinned(row.pending_digest, row.pending_definition);
  return {
    tool: row.tool,
    accepted: pinned(row.digest, row.definition),
    pending: pending && { ...pending, findings: JSON.parse(row.findings ?? '[]') as ScanFinding[] },
    decidedBy: row.decided_by,
    changedAt: row.changed_at,
  };
}

function pinned(digest: string | null, definition: string | null): Pinned | null {
  if (digest === null || definition === null) return null;
  return { digest, definition: JSON.parse(definition) as PinnedDefinition };
}

function toRow(server: string, { tool, accepted, pending, decidedBy, changedAt }: ToolPin) {
  return {
    server,
    tool,
    digest: accepted?.digest ?? null,
    definition: accepted && JSON.stringify(accepted.definition),
    pending_digest: pending?.digest ?? null,
    pending_definition: pending && JSON.stringify(pending.definition),
    findings: pending && JSON.stringify(pending.findings),
    decided_by: decidedBy,
    changed_at: changedAt,
  };
}
