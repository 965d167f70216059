import { Injectable, type OnModuleInit } from '@nestjs/common';
import { SealedTableRegistry } from '../security/index.js';
import { type StateManagerName, ToolRegistry } from '../tool/index.js';
import type { StateBackend } from './backend/state-backend.js';
import { StateBackendRegistry } from './state-backend.registry.js';

/** The backends in use by registered tools, whether or not a tool was called in this process. */
@Injectable()
export class UsedBackendService implements OnModuleInit {
  constructor(
    private readonly backends: StateBackendRegistry,
    private readonly tools: ToolRegistry,
    private readonly tables: SealedTableRegistry,
  ) {}

  onModuleInit(): void {
    // A store of files re-encrypts them when it opens.
    this.tables.registerStore(() => this.open());
  }

  names(): ReadonlySet<StateManagerName> {
    const stateful = this.tools.list().flatMap(({ metadata }) => metadata.state ?? []);
    return new Set([{}, ...stateful].map((options) => this.backends.nameOf(options)));
  }

  /** @throws AppError as `StateBackendRegistry.of` */
  open(): Promise<StateBackend[]> {
    return Promise.all([...this.names()].map((name) => this.backends.of(name)));
  }

  /** Includes backends of tools that are no longer registered. @throws AppError as `open` */
  async all(): Promise<StateBackend[]> {
    await this.open();
    return this.backends.opened();
  }
}
