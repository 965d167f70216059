import { Injectable } from '@nestjs/common';
import { Database } from '../../persistence/index.js';
import type { Table } from '../../persistence/schema/index.js';
import { mapInSlices } from '../time-slice.policy.js';
import type { ScanFinding } from '../trust/description-scan.policy.js';
import type { PinnedDefinition } from '../trust/definition-difference.mapper.js';
import { McpToolPinEntity, type StoredToolPin } from '../entities/mcp-tool-pin.entity.js';
import { type Pinned, type ToolPin, ToolPinStore } from './tool-pin-store.js';

type Row = ReturnType<typeof toRow>;

/** Length of the definitions in a batch, in UTF-16 units. */
const BATCH_LENGTH = 200_000;

/** Stores pins in the table `mcp_tool_pin`. */
@Injectable()
export class DatabaseToolPinStore extends ToolPinStore {
  private readonly pins: Table<StoredToolPin>;

  constructor(private readonly database: Database) {
    super();
    this.pins = database.table(McpToolPinEntity);
  }

  async of(server: string): Promise<ReadonlyMap<string, ToolPin>> {
    const rows = await this.pins.find({ where: { server }, order: { tool: 'ASC' } });
    return new Map(await mapInSlices(rows, (row) => [row.tool, toPin(row)] as const));
  }

  async add(server: string, pins: readonly ToolPin[]): Promise<void> {
    for (const some of await inBatches(server, pins)) {
      await this.database.commit(some.map((row) => this.database.insertIgnore('mcp_tool_pin', row)));
    }
  }

  async replace(server: string, pins: readonly ToolPin[]): Promise<void> {
    for (const some of await inBatches(server, pins)) {
      await this.database.commit(some.map((row) => this.database.upsert('mcp_tool_pin', [row], ['server', 'tool'])));
    }
  }

  async forget(server: string): Promise<void> {
    await this.pins.delete({ server });
  }
}

/** The rows in batches that SQLite, which blocks the process, writes in a few milliseconds. Each pin is independent. */
async function inBatches(server: string, pins: readonly ToolPin[]): Promise<(readonly Row[])[]> {
  const batches: Row[][] = [];
  let room = 0;
  for (const row of await mapInSlices(pins, (pin) => toRow(server, pin))) {
    const length = (row.definition?.length ?? 0) + (row.pending_definition?.length ?? 0);
    if (room < length) {
      batches.push([]);
      room = Math.max(BATCH_LENGTH, length);
    }
    batches.at(-1)!.push(row);
    room -= length;
  }
  return batches;
}

function toPin(row: StoredToolPin): ToolPin {
  const accepted = pinned(row.digest, row.definition);
  const pending = pinned(row.pendingDigest, row.pendingDefinition);
  const findings = JSON.parse(row.findings ?? '[]') as ScanFinding[];
  return {
    tool: row.tool,
    accepted,
    // Older versions held a tool without an accepted definition only because it was suspicious.
    pending: pending && { ...pending, findings, reason: row.reason ?? (accepted ? 'changed' : 'suspicious') },
    hints: row.hints === null ? null : (JSON.parse(row.hints) as Record<string, unknown>),
    version: row.version,
    decidedBy: row.decidedBy,
    changedAt: row.changedAt,
  };
}

function pinned(digest: string | null, definition: string | null): Pinned | null {
  if (digest === null || definition === null) return null;
  return { digest, definition: JSON.parse(definition) as PinnedDefinition };
}

function toRow(server: string, { tool, accepted, pending, hints, version, decidedBy, changedAt }: ToolPin) {
  return {
    server,
    tool,
    digest: accepted?.digest ?? null,
    definition: accepted && JSON.stringify(accepted.definition),
    pending_digest: pending?.digest ?? null,
    pending_definition: pending && JSON.stringify(pending.definition),
    findings: pending && JSON.stringify(pending.findings),
    reason: pending && pending.reason,
    hints: hints && JSON.stringify(hints),
    version,
    decided_by: decidedBy,
    changed_at: changedAt,
  };
}
