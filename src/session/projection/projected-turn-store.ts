import type { Statement } from '../../persistence/index.js';
import type { SessionKey, StoredTurn } from '../session.types.js';
import { TurnStore, type TurnQuery } from '../turns/turn-store.js';
import { readAfter, readArchived } from './archived-turns.mapper.js';
import type { TurnChangeStore } from './turn-change.store.js';
import type { TurnArchive } from './turn-archive.js';

const SESSIONS_A_PAGE = 100;

/**
 * Turns in a store beside the journal's database. What changes them is journaled with the batch that it belongs to and
 * done there afterwards: before anybody reads the session, at the latest when somebody looks for what was left over.
 */
export class ProjectedTurnStore extends TurnStore {
  /** What is being done for each session: one thing after the other. */
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

  /** As what they are, and not by a reference: whatever becomes of the other session then, this one is whole. */
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

  /** Turns are found there by their sessions alone. */
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

  /** Does in the archive what waits for the session. Rejects with the archive's error: it then still waits. */
  settle(key: SessionKey): Promise<void> {
    const name = JSON.stringify([key.tenant, key.id]);
    const done = (this.busy.get(name) ?? Promise.resolve()).catch(() => undefined).then(() => this.doWaiting(key));
    this.busy.set(name, done);
    const forget = () => this.busy.get(name) === done && this.busy.delete(name);
    done.then(forget, forget);
    return done;
  }

  /**
   * Does what waits since before a time, for all sessions; one that cannot be settled holds up no other.
   * @param before epoch ms
   * @param orLater does a piece of it, or tells why it is left; gives whether it was done
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
   * Whether a later change that the archive has done is none of this journal: its database was taken back to an earlier
   * state. Changes are let go of in order, so that the later one of two waits as long as the earlier one.
   */
  private async isUnknown(key: SessionKey, seq: number, done: number): Promise<boolean> {
    const waiting = new Set((await this.changes.waiting(key)).map((one) => one.seq));
    return waiting.has(seq) && !waiting.has(done);
  }
}
