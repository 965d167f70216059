import { Injectable } from '@nestjs/common';
import type { Principal } from '../../kernel/index.js';
import { Database } from '../../persistence/index.js';
import type { Table } from '../../persistence/schema/index.js';
import { ToolRegistry } from '../../tool/index.js';
import { ToolSwitch } from '../../tool/decision/index.js';
import { type DisabledTool, DisabledToolEntity } from './entities/disabled-tool.entity.js';

/** The table `disabled_tool`: its rows are disabled tools. */
@Injectable()
export class DisabledToolStore {
  private readonly tools: Table<DisabledTool>;

  constructor(database: Database) {
    this.tools = database.table(DisabledToolEntity);
  }

  /** Names of a tenant's disabled tools. */
  async names(tenant: string): Promise<string[]> {
    const found = await this.tools.find({ where: { tenant }, order: { name: 'ASC' } });
    return found.map(({ name }) => name);
  }

  /** Disables a tool; an existing row is not changed. @param at epoch ms */
  async add(tenant: string, name: string, by: string, at: number): Promise<void> {
    await this.tools.insertIfAbsent({ tenant, name, disabledBy: by, disabledAt: at });
  }

  async remove(tenant: string, name: string): Promise<void> {
    await this.tools.delete({ tenant, name });
  }
}

/** Cache time of a tenant's disabled tools, in ms: maximum delay until a change reaches other processes. */
const KNOWN_MS = 2_000;
/** Maximum cached tenants. */
const MAX_KNOWN = 10_000;

interface Known {
  readonly names: ReadonlySet<string>;
  /** On the monotonic clock. */
  readonly readAt: number;
}

/**
 * Disables and enables tools for a tenant. A disabled tool is neither offered to models nor callable in that tenant: at
 * once in this process, within two seconds in others.
 */
@Injectable()
export class ToolSwitchService extends ToolSwitch {
  private readonly known = new Map<string, Known>();
  /** Counts changes, so that a read that started before a change is not cached after it. */
  private switches = 0;

  constructor(
    private readonly store: DisabledToolStore,
    private readonly tools: ToolRegistry,
  ) {
    super();
  }

  /** Synchronous if cached. */
  override disabled(tenant: string): ReadonlySet<string> | Promise<ReadonlySet<string>> {
    const known = this.known.get(tenant);
    return known && performance.now() - known.readAt < KNOWN_MS ? known.names : this.read(tenant);
  }

  /** Disables a tool; idempotent. @throws AppError `TOOL_NOT_FOUND` */
  async disable({ tenant, id }: Principal, name: string): Promise<void> {
    this.tools.get(name);
    await this.store.add(tenant, name, id, Date.now());
    this.forget(tenant);
  }

  /** Enables a tool, also a disabled one that is no longer registered. @throws AppError `TOOL_NOT_FOUND` */
  async enable({ tenant }: Principal, name: string): Promise<void> {
    if (!(await this.read(tenant)).has(name)) this.tools.get(name);
    await this.store.remove(tenant, name);
    this.forget(tenant);
  }

  private async read(tenant: string): Promise<ReadonlySet<string>> {
    const before = this.switches;
    const readAt = performance.now();
    const names = new Set(await this.store.names(tenant));
    if (before === this.switches) this.remember(tenant, { names, readAt });
    return names;
  }

  private remember(tenant: string, known: Known): void {
    this.known.delete(tenant);
    this.known.set(tenant, known);
    if (this.known.size <= MAX_KNOWN) return;
    const [oldest = ''] = this.known.keys();
    this.known.delete(oldest);
  }

  private forget(tenant: string): void {
    this.switches++;
    this.known.delete(tenant);
    this.tools.changes.notify();
  }
}
