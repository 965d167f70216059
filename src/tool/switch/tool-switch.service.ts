import { Injectable } from '@nestjs/common';
import { AppError, type Principal } from '../../common/index.js';
import { ToolRegistry } from '../tool.registry.js';
import { DisabledToolStore } from './disabled-tool.store.js';

/** How long it is known which tools are off: a switch takes so long to reach other processes, in ms. */
const KNOWN_MS = 2_000;
/** The most tenants of which it is known at once. */
const MAX_KNOWN = 10_000;

interface Known {
  readonly names: ReadonlySet<string>;
  /** On the monotonic clock. */
  readonly readAt: number;
}

/**
 * Switches tools off and on for a tenant. One that is off is shown to no model of that tenant's and called for nobody of
 * it: at once here, within two seconds in other processes.
 */
@Injectable()
export class ToolSwitchService {
  private readonly known = new Map<string, Known>();
  /** Counts switches: what was read before one is not kept after it. */
  private switches = 0;

  constructor(
    private readonly store: DisabledToolStore,
    private readonly tools: ToolRegistry,
  ) {}

  /** The names of a tenant's tools that are off; at once where they are known. */
  disabled(tenant: string): ReadonlySet<string> | Promise<ReadonlySet<string>> {
    const known = this.known.get(tenant);
    return known && performance.now() - known.readAt < KNOWN_MS ? known.names : this.read(tenant);
  }

  /** Switches a tool off; no harm where it is. @throws AppError `TOOL_NOT_FOUND` */
  async disable({ tenant, id }: Principal, name: string): Promise<void> {
    this.tools.get(name);
    await this.store.add(tenant, name, id, Date.now());
    this.forget(tenant);
  }

  /** Switches a tool on; also one that is not there now, and off. @throws AppError `TOOL_NOT_FOUND` */
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
    this.tools.changes.tell();
  }
}

/** What is told of a call of a tool that is off. */
export function toolDisabled(name: string): AppError {
  const message = `Tool "${name}" is switched off here: do without it, or ask an admin to enable it.`;
  return new AppError('TOOL_DISABLED', message, { details: { tool: name } });
}
