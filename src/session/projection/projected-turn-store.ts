import {
  type BeforeApplicationShutdown,
  Injectable,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
} from '@nestjs/common';
import { Log, messageOf } from '../../errors/index.js';
import { RecurringWork } from '../../kernel/index.js';
import { parseExactJson } from '../../kernel/json/index.js';
import { Database, Outbox, OutboxRelay } from '../../persistence/index.js';
import type { Row, Statement } from '../../persistence/statement/index.js';
import type { SessionKey, StoredTurn } from '../session.types.js';
import { type TurnQuery, TurnStore } from '../turns/turn-store.js';
import { readAfter, readArchived } from './archived-turns.mapper.js';
import type { TurnArchive, TurnChange } from './turn-archive.js';

export type TurnOwner = Readonly<Record<'tenant' | 'session_id', string>>;

export interface PendingTurnChange {
  readonly seq: number;
  readonly change: TurnChange;
}

/**
 * Changes that the archive has yet to apply; they are in the journal from the moment of the decision. The database
 * numbers them. Their batches lock the session's row, so a session's changes are numbered in commit order: a reader of
 * one change sees all earlier ones.
 */
@Injectable()
export class TurnOutbox extends Outbox<TurnOwner, PendingTurnChange> {
  constructor(database: Database) {
    super(database, { name: 'turn_change', id: 'seq', owner: ['tenant', 'session_id'], order: 'seq' });
  }

  /** In its batch, it must follow the statement that holds the session's row. */
  add(key: SessionKey, change: TurnChange): Statement {
    return this.insert({ ...ownerOf(key), change_data: JSON.stringify(change) });
  }

  protected read({ seq, change_data }: Row): PendingTurnChange {
    return { seq: seq as number, change: parseExactJson(change_data as string) as TurnChange };
  }
}

export function ownerOf({ tenant, id }: SessionKey): TurnOwner {
  return { tenant, session_id: id };
}

const SWEEP_EVERY_MS = 1000;
const PRUNE_EVERY_MS = 3_600_000;

/**
 * Turns in a store other than the journal's database. Changes are journaled in the batch that they belong to and
 * applied later: before the session is read, at the latest by the periodic sweep, and before the shutdown.
 */
export class ProjectedTurnStore
  extends TurnStore
  implements OnApplicationBootstrap, BeforeApplicationShutdown, OnApplicationShutdown
{
  private readonly logger = new Log(ProjectedTurnStore.name);
  private readonly relay: OutboxRelay<TurnOwner, PendingTurnChange>;
  private readonly pruning: RecurringWork;

  constructor(
    private readonly changes: TurnOutbox,
    private readonly archive: TurnArchive,
  ) {
    super();
    this.relay = new OutboxRelay(changes, (owner, pending) => this.apply(owner, pending));
    this.pruning = new RecurringWork({
      work: () => archive.prune(Date.now()).then(() => PRUNE_EVERY_MS),
      onFailure: (error) => this.warn(messageOf(error)),
      retryMs: PRUNE_EVERY_MS,
      onClockJump: () => this.warn('Wall clock jumped; turns are not pruned for 10 minutes'),
    });
  }

  async onApplicationBootstrap(): Promise<void> {
    await this.archive.prepare();
    await this.relay.start({ everyMs: SWEEP_EVERY_MS, ageMs: SWEEP_EVERY_MS, warn: (message) => this.warn(message) });
    this.pruning.start(SWEEP_EVERY_MS);
  }

  async beforeApplicationShutdown(): Promise<void> {
    await Promise.all([this.relay.stop(), this.pruning.stop()]);
    const [error] = await this.settleLate().catch((failure: unknown) => [failure]);
    if (error) this.warn(messageOf(error));
  }

  async onApplicationShutdown(): Promise<void> {
    await this.archive.close();
  }

  append(key: SessionKey, turn: StoredTurn): Statement[] {
    return [this.changes.add(key, { kind: 'append', turn })];
  }

  /** Copies the turns themselves, so that later changes to the source session do not affect the copy. */
  async copy(from: SessionKey, to: SessionKey, through: number): Promise<Statement[]> {
    const turns = await this.read(from, { through, newest: through });
    return turns.flatMap((turn) => this.append(to, turn));
  }

  remove(key: SessionKey, through: number): Statement[] {
    return [this.changes.add(key, { kind: 'remove', through })];
  }

  drop(key: SessionKey, turns: readonly number[]): Statement[] {
    return [this.changes.add(key, { kind: 'drop', turns })];
  }

  /** The archive finds turns by their session only. */
  async sessionsOf(): Promise<null> {
    return null;
  }

  mark(key: SessionKey, turn: number, mark: number | null): Statement[] {
    return [this.changes.add(key, { kind: 'mark', turn, mark })];
  }

  refer(key: SessionKey, turn: number, by: number): Statement[] {
    return [this.changes.add(key, { kind: 'refer', turn, by })];
  }

  async read(key: SessionKey, query: TurnQuery): Promise<StoredTurn[]> {
    await this.settle(key);
    return readArchived(this.archive, key, query);
  }

  async after(key: SessionKey, after: number, limit: number): Promise<StoredTurn[]> {
    await this.settle(key);
    return readAfter(this.archive, key, after, limit);
  }

  /** Applies the session's pending changes to the archive. Rejects as `OutboxRelay.settle`. */
  settle(key: SessionKey): Promise<void> {
    return this.relay.settle(ownerOf(key));
  }

  /** Applies all pending changes. @returns errors of failed sessions */
  settleLate(): Promise<unknown[]> {
    return this.relay.settleLate(Date.now());
  }

  override async purge(): Promise<void> {
    await this.settleLate();
    await this.archive.purge();
  }

  private async apply(owner: TurnOwner, pending: readonly PendingTurnChange[]): Promise<void> {
    const key = { tenant: owner.tenant, id: owner.session_id };
    for (const { seq, change } of pending) {
      const done = await this.archive.apply(key, seq, change);
      if (done === seq || !(await this.isUnknown(owner, seq, done))) continue;
      await this.archive.forgetDone(key);
      // Another node may have applied further changes before their numbers were deleted.
      return this.apply(owner, await this.changes.pending(owner));
    }
    await this.changes.done(pending.map(({ seq }) => seq));
  }

  /**
   * Whether the archive has applied a later change that this journal does not know, since the journal's database was
   * restored. Changes leave the journal in order: while the earlier of two is pending, so is the later one.
   */
  private async isUnknown(owner: TurnOwner, seq: number, done: number): Promise<boolean> {
    const pending = new Set((await this.changes.pending(owner)).map((one) => one.seq));
    return pending.has(seq) && !pending.has(done);
  }

  private warn(message: string): void {
    this.logger.warn(`Session store unavailable: ${message}; pending writes are stored and retried`);
  }
}
