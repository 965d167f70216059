import { open, rm, type FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import { AppError } from '../../errors/index.js';
import { parseExactJson } from '../../kernel/json/index.js';
import { replaceFile, syncFolder } from '../../kernel/platform/durable-files.js';
import type { SessionKey, StoredTurn } from '../session.types.js';

/** A line of a session file. */
type Line =
  | { readonly session: SessionKey; readonly version: 1 }
  | { readonly turn: StoredTurn }
  | { readonly mark: readonly [turn: number, mark: number | null] };

interface Place {
  readonly offset: number;
  readonly bytes: number;
}

const LINE_BREAK = 10;
const MODE = 0o600;

/**
 * The file of one session: one JSON object a line, the session first. Lines are appended in one write and synced to the
 * disk. A last line torn by a crash is truncated at the next read. The offsets of turns are cached, so that a long file
 * is read completely only once.
 */
export class SessionFile {
  readonly marks = new Map<number, number>();
  private readonly places = new Map<number, Place>();
  private size = 0;
  private lastTurn = 0;

  private constructor(private readonly path: string) {}

  /**
   * `null` if the file does not exist or has no complete line.
   * @throws AppError `SESSION_FILE_DAMAGED` if it is invalid or belongs to another session
   */
  static async read(path: string, key: SessionKey): Promise<SessionFile | null> {
    const handle = await openIfThere(path);
    if (!handle) return null;
    try {
      const file = new SessionFile(path);
      const data = await handle.readFile();
      const end = data.lastIndexOf(LINE_BREAK) + 1;
      if (end < data.length) {
        await handle.truncate(end);
        await handle.sync();
      }
      if (end === 0) return null;
      file.index(data.subarray(0, end), key);
      return file;
    } finally {
      await handle.close();
    }
  }

  /** Creates the file of a session. */
  static async create(path: string, key: SessionKey): Promise<SessionFile> {
    const file = new SessionFile(path);
    await file.write([{ session: key, version: 1 }]);
    await syncFolder(dirname(path));
    return file;
  }

  get last(): number {
    return this.lastTurn;
  }

  /** `places` has the order of the lines, and so of the turns. */
  get first(): number {
    const [first = 0] = this.places.keys();
    return first;
  }

  has(turn: number): boolean {
    return this.places.has(turn);
  }

  async addTurn(turn: StoredTurn): Promise<void> {
    await this.write([{ turn: { ...turn, mark: null } }]);
  }

  async addMark(turn: number, mark: number | null): Promise<void> {
    await this.write([{ mark: [turn, mark] }]);
  }

  /** @param turns existing turns */
  async turns(turns: readonly number[]): Promise<StoredTurn[]> {
    const handle = await open(this.path, 'r');
    try {
      const found: StoredTurn[] = [];
      for (const turn of turns) found.push(await this.turnAt(handle, this.places.get(turn)!));
      return found;
    } finally {
      await handle.close();
    }
  }

  /** Replaces the file atomically by one without some turns. */
  async without(key: SessionKey, isGone: (turn: number) => boolean): Promise<SessionFile> {
    const remaining = [...this.places.keys()].filter((turn) => !isGone(turn)).toSorted((a, b) => a - b);
    const next = new SessionFile(`${this.path}.new`);
    await rm(next.path, { force: true });
    await next.write([{ session: key, version: 1 }]);
    for (const turn of remaining) {
      const [one] = await this.turns([turn]);
      await next.addTurn(one!);
    }
    for (const [turn, mark] of this.marks) if (!isGone(turn)) await next.addMark(turn, mark);
    await replaceFile(next.path, this.path);
    await syncFolder(dirname(this.path));
    const file = new SessionFile(this.path);
    file.take(next);
    return file;
  }

  private take({ size, lastTurn, places, marks }: SessionFile): void {
    this.size = size;
    this.lastTurn = lastTurn;
    for (const [turn, place] of places) this.places.set(turn, place);
    for (const [turn, mark] of marks) this.marks.set(turn, mark);
  }

  private async turnAt(handle: FileHandle, { offset, bytes }: Place): Promise<StoredTurn> {
    const { buffer } = await handle.read(Buffer.alloc(bytes), 0, bytes, offset);
    return (parseExactJson(buffer.toString('utf8')) as { turn: StoredTurn }).turn;
  }

  private async write(lines: readonly Line[]): Promise<void> {
    const texts = lines.map((line) => Buffer.from(`${JSON.stringify(line)}\n`));
    const handle = await open(this.path, 'a', MODE);
    try {
      await handle.appendFile(Buffer.concat(texts));
      await handle.sync();
    } catch (error) {
      // A partial line would corrupt the next one.
      await handle.truncate(this.size).catch(() => undefined);
      throw error;
    } finally {
      await handle.close();
    }
    for (const [at, line] of lines.entries()) this.note(line, texts[at]!.length);
  }

  private index(data: Buffer, key: SessionKey): void {
    for (let start = 0; start < data.length;) {
      const end = data.indexOf(LINE_BREAK, start) + 1;
      const line = this.parse(data.toString('utf8', start, end));
      if (start === 0 && !isOf(line, key)) throw this.damaged('it is another session’s');
      this.note(line, end - start);
      start = end;
    }
  }

  private parse(text: string): Line {
    try {
      return parseExactJson(text) as Line;
    } catch {
      throw this.damaged(`at byte ${this.size} it is not JSON`);
    }
  }

  private note(line: Line, bytes: number): void {
    if ('turn' in line) {
      this.places.set(line.turn.turn, { offset: this.size, bytes });
      this.lastTurn = Math.max(this.lastTurn, line.turn.turn);
    } else if ('mark' in line) {
      const [turn, mark] = line.mark;
      if (mark === null) this.marks.delete(turn);
      else this.marks.set(turn, mark);
    }
    this.size += bytes;
  }

  private damaged(how: string): AppError {
    return new AppError(
      'SESSION_FILE_DAMAGED',
      `The session file ${this.path} cannot be read: ${how}. Mend it or move it away.`,
    );
  }
}

function isOf(line: Line, { tenant, id }: SessionKey): boolean {
  return 'session' in line && line.session.tenant === tenant && line.session.id === id;
}

async function openIfThere(path: string): Promise<FileHandle | null> {
  try {
    return await open(path, 'r+');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}
