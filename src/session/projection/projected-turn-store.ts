import type { Statement } from '../../persistence/index.js';
import type { SessionKey, StoredTurn } from '../session.types.js';
import { TurnStore, type TurnQuery } from '../turns/turn-store.js';
import { readAfter, readArchived } from './archived-turns.mapper.js';
import type { TurnChangeStore } from './turn-change.store.js';
import type { TurnArchive } from './turn-archive.js';

const SESSIONS_A_PAGE = 100;

/**
 * Turns in a store other than the journal's database. Changes are journaled in the batch that they belong to and
 * applied later: before the session is read, at the latest by the periodic sweep.
 */
export class ProjectedTurnStore extends TurnStore {
  /** Operations of each session, which run sequentially. */
  private readonly busy = new Map<string, Promise<void>>();

  constructor(
    private readonly changes: TurnChangeStore,
    private readonly archive: TurnArchive,
  ) {
    super();
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

  /**
   * Applies the session's pending changes to the archive. Rejects with the archive's error; the changes then stay
   * pending.
   */
  settle(key: SessionKey): Promise<void> {
    const name = JSON.stringify([key.tenant, key.id]);
    const done = (this.busy.get(name) ?? Promise.resolve()).catch(() => undefined).then(() => this.doWaiting(key));
    this.busy.set(name, done);
    const forget = () => this.busy.get(name) === done && this.busy.delete(name);
    done.then(forget, forget);
    return done;
  }

  /**
   * Applies changes pending since before a time, for all sessions; a failing session does not block others.
   * @param before epoch ms
   * @param orLater runs a piece of work and reports its error; returns whether it succeeded
   */
  async settleLate(before: number, orLater: (work: () => Promise<void>) => Promise<boolean>): Promise<void> {
    for (let isMore = true; isMore;) {
      const late = await this.changes.late(before, SESSIONS_A_PAGE);
      const done = await Promise.all(late.map((key) => orLater(() => this.settle(key))));
      isMore = late.length === SESSIONS_A_PAGE && done.some(Boolean);
    }
  }

  override async purge(): Promise<void> {
    await this.settleLate(Date.now() + 1, (work) =>
      work().then(
        () => true,
        () => false,
      ),
    );
    await this.archive.purge();
  }

  private async doWaiting(key: SessionKey): Promise<void> {
    const waiting = await this.changes.waiting(key);
    for (const { seq, change } of waiting) {
      const done = await this.archive.apply(key, seq, change);
      if (done === seq || !(await this.isUnknown(key, seq, done))) continue;
      await this.archive.forgetDone(key);
      return this.doWaiting(key);
    }
    const last = waiting.at(-1);
    if (last) await this.changes.done(key, last.seq);
  }

  /**
   * Whether the archive has applied a later change that this journal does not know, since the journal's database was
   * restored. Changes leave the journal in order: while the earlier of two is pending, so is the later one.
   */
  private async isUnknown(key: SessionKey, seq: number, done: number): Promise<boolean> {
    const waiting = new Set((await this.changes.waiting(key)).map((one) => one.seq));
    return waiting.has(seq) && !waiting.has(done);
  }
}
