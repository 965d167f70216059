import { createHash } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { KeyedQueue, prepareFolder } from '../../persistence/index.js';
import type { SessionKey, StoredTurn } from '../session.types.js';
import { SessionFile } from './session-file.js';
import { LocalTurnArchive, type TurnSpan } from './turn-archive.js';

/** Maximum files whose index is cached. */
const OPEN_FILES = 1000;
const SUFFIX = '.jsonl';

/** Turns in a folder with one file for each session. Only one process may use the folder. */
export class FileTurnArchive extends LocalTurnArchive {
  /** Ordered from the least to the most recently used. */
  private readonly files = new Map<string, SessionFile>();
  private readonly queue = new KeyedQueue();

  constructor(private readonly folder: string) {
    super();
  }

  /** @throws AppError `CONFIG_INVALID` if the folder cannot be written */
  override prepare(): Promise<void> {
    return prepareFolder(this.folder);
  }

  protected put(key: SessionKey, turn: StoredTurn): Promise<void> {
    return this.alone(key, async () => {
      const file = (await this.file(key)) ?? (await this.create(key));
      this.remember(key, file);
      if (!file.has(turn.turn)) await file.addTurn(turn);
    });
  }

  get(key: SessionKey, turns: readonly number[]): Promise<StoredTurn[]> {
    return this.alone(key, async () => {
      const file = await this.file(key);
      const there = turns.filter((turn) => file?.has(turn)).toSorted((a, b) => a - b);
      return file && there.length > 0 ? file.turns(there) : [];
    });
  }

  span(key: SessionKey): Promise<TurnSpan> {
    return this.alone(key, async () => {
      const file = await this.file(key);
      return { first: file?.first ?? 0, last: file?.last ?? 0 };
    });
  }

  marks(key: SessionKey): Promise<ReadonlyMap<number, number>> {
    return this.alone(key, async () => (await this.file(key))?.marks ?? new Map());
  }

  protected setMark(key: SessionKey, turn: number, mark: number | null): Promise<void> {
    return this.alone(key, async () => {
      const file = await this.file(key);
      if (file?.has(turn) && (file.marks.get(turn) ?? null) !== mark) await file.addMark(turn, mark);
    });
  }

  protected remove(key: SessionKey, through: number): Promise<void> {
    return this.alone(key, async () => {
      const file = await this.file(key);
      if (!file) return;
      this.files.delete(this.pathOf(key));
      if (file.last <= through) await rm(this.pathOf(key), { force: true });
      else this.remember(key, await file.without(key, (turn) => turn <= through));
    });
  }

  protected drop(key: SessionKey, turns: readonly number[]): Promise<void> {
    return this.alone(key, async () => {
      const file = await this.file(key);
      if (!file || !turns.some((turn) => file.has(turn))) return;
      this.files.delete(this.pathOf(key));
      this.remember(key, await file.without(key, (turn) => turns.includes(turn)));
    });
  }

  async close(): Promise<void> {
    await this.queue.idle();
  }

  private create(key: SessionKey): Promise<SessionFile> {
    return SessionFile.create(this.pathOf(key), key);
  }

  private async file(key: SessionKey): Promise<SessionFile | null> {
    const file = this.files.get(this.pathOf(key)) ?? (await SessionFile.read(this.pathOf(key), key));
    if (file) this.remember(key, file);
    return file;
  }

  private remember(key: SessionKey, file: SessionFile): void {
    const path = this.pathOf(key);
    this.files.delete(path);
    this.files.set(path, file);
    if (this.files.size <= OPEN_FILES) return;
    const [oldest] = this.files.keys();
    this.files.delete(oldest!);
  }

  /** Hashes the key: tenant names may contain any character, and some file systems ignore case. */
  private pathOf({ tenant, id }: SessionKey): string {
    const name = createHash('sha256')
      .update(JSON.stringify([tenant, id]))
      .digest('hex');
    return join(this.folder, `${name}${SUFFIX}`);
  }

  /** Runs the operations of a session sequentially. */
  private alone<T>(key: SessionKey, work: () => Promise<T>): Promise<T> {
    return this.queue.next(this.pathOf(key), work);
  }
}
