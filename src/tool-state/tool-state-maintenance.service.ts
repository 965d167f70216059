import {
  type BeforeApplicationShutdown,
  Inject,
  Injectable,
  type OnApplicationBootstrap,
  type OnModuleInit,
} from '@nestjs/common';
import { toolStateConfig, type ToolStateConfig } from '../config/namespaces/index.js';
import { Log, messageOf } from '../errors/index.js';
import { RecurringWork } from '../kernel/index.js';
import { Database, OutboxRelay, withLongCalls } from '../persistence/index.js';
import { Cipher, SealedTableRegistry } from '../security/encryption/index.js';
import { ToolRegistry } from '../tool/index.js';
import type { StateManagerName } from '../tool/stateful/index.js';
import type { StateBackend } from './backend/state-backend.js';
import { type PendingStateChange, StateOutbox, type StateOwner } from './backend/projected-state-backend.js';
import { StateBackendRegistry } from './state-backend.registry.js';
import { isDamage, storeNotConfigured } from './tool-state.error.js';

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

/** Contexts that one query for expired contexts returns. */
const AT_ONCE = 200;
/** Limit of one sweep: a wrong clock must not delete everything at once. */
const MAX_SWEPT = 10_000;
/** Minimum age of a pending change, in ms: the call itself applies younger ones. */
const YOUNG_MS = 5_000;

/** Background maintenance of states: deletes expired contexts and applies pending changes. */
@Injectable()
export class ToolStateMaintenanceService implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Log('ToolState');
  private readonly relay: OutboxRelay<StateOwner, PendingStateChange>;
  private cleanup: RecurringWork | undefined;

  constructor(
    @Inject(toolStateConfig.KEY) private readonly config: ToolStateConfig,
    private readonly backends: StateBackendRegistry,
    private readonly used: UsedBackendService,
    private readonly database: Database,
    cipher: Cipher,
  ) {
    const outbox = new StateOutbox(database, cipher);
    this.relay = new OutboxRelay(outbox, (owner, pending) => this.apply(owner.context_id, pending));
  }

  async onApplicationBootstrap(): Promise<void> {
    const { cleanupIntervalMs, sync } = this.config;
    if (cleanupIntervalMs !== null) await this.startCleanup(cleanupIntervalMs);
    await this.relay.start({
      everyMs: sync.intervalMs,
      ageMs: sync.isOnChange ? YOUNG_MS : 0,
      warn: (message) => this.logger.warn(`Failed to apply pending changes of tool states; retrying: ${message}`),
    });
  }

  async beforeApplicationShutdown(): Promise<void> {
    await Promise.all([this.relay.stop(), this.cleanup?.stop()]);
  }

  /** Deletes expired contexts of all backends. @returns number of deleted contexts */
  sweep(): Promise<number> {
    return withLongCalls(() => this.sweepAll());
  }

  private async sweepAll(): Promise<number> {
    let swept = 0;
    for (const backend of await this.used.all()) swept += await this.sweepIn(backend);
    return swept;
  }

  private async sweepIn(backend: StateBackend): Promise<number> {
    for (let swept = 0; ;) {
      const ids = await backend.store.expired(Date.now(), AT_ONCE);
      for (const id of ids) swept += (await backend.removeExpired(id)) ? 1 : 0;
      if (ids.length < AT_ONCE || swept >= MAX_SWEPT) return swept;
    }
  }

  /**
   * Applies all pending changes of a tenant; until then its stores are incomplete.
   * @throws AppError `TOOL_STATE_UNAVAILABLE` for a failed change; all other changes are applied
   */
  async carryOver(tenant: string): Promise<void> {
    throwFirst(await this.settleAll(tenant));
  }

  /** As `carryOver`, but ignores damaged contexts: their readers get the error. */
  async carryReadable(tenant: string): Promise<void> {
    const failed = await this.settleAll(tenant);
    throwFirst(failed.filter((error) => !isDamage(error)));
  }

  private settleAll(tenant: string): Promise<unknown[]> {
    return this.relay.settleLate(Number.MAX_SAFE_INTEGER, { tenant });
  }

  private async apply(contextId: string, pending: readonly PendingStateChange[]): Promise<void> {
    const names = new Set(pending.map(({ outgoing }) => outgoing.home));
    const backends = await Promise.all([...names].map((name) => this.backends.of(name)));
    for (const backend of backends) await backend.catchUp(contextId);
    const other = backends.find(({ hasOutbox }) => !hasOutbox);
    if (other) throw storeNotConfigured(other.name);
  }

  private report(swept: number): void {
    if (swept > 0) this.logger.log(`Deleted ${swept} expired contexts of tool states`);
  }

  private async startCleanup(intervalMs: number): Promise<void> {
    const cleanup = new RecurringWork({
      work: () => this.sweep().then((swept) => (this.report(swept), intervalMs)),
      onFailure: (error) => this.logger.warn(`Failed to delete expired tool states; retrying: ${messageOf(error)}`),
      retryMs: intervalMs,
      onClockJump: (jumpMs) =>
        this.logger.warn({ jump_ms: jumpMs }, 'Wall clock jumped; expired tool states are not deleted for 10 minutes'),
    });
    this.cleanup = cleanup;
    await this.database.onceOpen(() => cleanup.start(intervalMs));
  }
}

function throwFirst(errors: readonly unknown[]): void {
  for (const error of errors) throw error;
}
