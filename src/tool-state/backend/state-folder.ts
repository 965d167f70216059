import { mkdir, open, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { constants, gunzip, gzip } from 'node:zlib';
import { replaceFile, syncFolder } from '../../kernel/platform/durable-files.js';
import { lockFile } from '../../persistence/index.js';
import { stateFileDamaged, storeUnavailable } from './guarded-state-store.js';

const PLAIN = '.json';
const COMPRESSED = '.json.gz';
/** Suffix of a file in progress; at start such a file is left over from a crash. */
const UNFINISHED = '.new';
const MODE = 0o600;

const compress = promisify(gzip);
const expand = promisify(gunzip);

/** JSON texts in a folder, one per file, each replaced atomically. The folder belongs to one process. */
export class StateFolder {
  private count = 0;

  private constructor(
    private readonly folder: string,
    private readonly suffix: string,
    private readonly unlock: () => void,
  ) {}

  /** @throws AppError `DATABASE_LOCKED` if another process uses the folder, `TOOL_STATE_UNAVAILABLE` */
  static async open(folder: string, isCompressed: boolean): Promise<StateFolder> {
    let unlock: (() => void) | undefined;
    try {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      unlock = lockFile(join(folder, '.lock'), refusalOf(folder));
      for (const name of await readdir(folder))
        if (name.endsWith(UNFINISHED)) await rm(join(folder, name), { force: true });
      return new StateFolder(folder, isCompressed ? COMPRESSED : PLAIN, unlock);
    } catch (error) {
      unlock?.();
      throw toFailure(folder, error);
    }
  }

  /** The names of all texts: `current` in the configured compression, `old` in the other one. */
  async names(): Promise<{ readonly current: string[]; readonly old: string[] }> {
    const files = await readdir(this.folder);
    const other = this.suffix === PLAIN ? COMPRESSED : PLAIN;
    return { current: namesOf(files, this.suffix), old: namesOf(files, other) };
  }

  pathOf(name: string, isOld = false): string {
    const suffix = isOld === (this.suffix === PLAIN) ? COMPRESSED : PLAIN;
    return join(this.folder, name + suffix);
  }

  /** Returns `null` for an absent file. @throws AppError `TOOL_STATE_UNAVAILABLE` */
  async read(name: string, isOld = false): Promise<string | null> {
    const path = this.pathOf(name, isOld);
    const data = await readIfThere(path);
    if (data === null || !path.endsWith(COMPRESSED)) return data?.toString('utf8') ?? null;
    try {
      return (await expand(data)).toString('utf8');
    } catch (error) {
      throw stateFileDamaged(path, 'it cannot be decompressed', error);
    }
  }

  /** Resolves when the text is durable. @throws AppError `TOOL_STATE_UNAVAILABLE` */
  async write(name: string, text: string): Promise<void> {
    const path = this.pathOf(name);
    const unfinished = join(this.folder, `${name}.${this.count++}${UNFINISHED}`);
    try {
      const data = path.endsWith(COMPRESSED) ? await compress(text, { level: constants.Z_BEST_SPEED }) : text;
      await writeNew(unfinished, data);
      await replaceFile(unfinished, path);
      await syncFolder(this.folder);
    } catch (error) {
      await rm(unfinished, { force: true }).catch(() => undefined);
      throw storeUnavailable(`The file ${path}`, error);
    }
  }

  /** @throws AppError `TOOL_STATE_UNAVAILABLE` */
  async remove(name: string, isOld = false): Promise<void> {
    const path = this.pathOf(name, isOld);
    try {
      await rm(path, { force: true });
      await syncFolder(this.folder);
    } catch (error) {
      throw storeUnavailable(`The file ${path}`, error);
    }
  }

  /** @throws AppError `TOOL_STATE_UNAVAILABLE` */
  async rename(from: string, to: string, isOld: boolean): Promise<void> {
    if (from === to) return;
    const path = this.pathOf(from, isOld);
    try {
      await replaceFile(path, this.pathOf(to, isOld));
    } catch (error) {
      throw storeUnavailable(`The file ${path}`, error);
    }
  }

  close(): void {
    this.unlock();
  }
}

function refusalOf(folder: string): string {
  return `The folder ${folder} of tools' states belongs to another running Jackdaw. One process owns it: stop the other one, or give this one its own folder; several processes share states in a database or in Redis.`;
}

function toFailure(folder: string, error: unknown): unknown {
  const { code } = error as { code?: unknown };
  return code === 'DATABASE_LOCKED' ? error : storeUnavailable(`The folder ${folder}`, error);
}

/** Ignores hidden files. */
function namesOf(files: readonly string[], suffix: string): string[] {
  const ours = files.filter((file) => file.endsWith(suffix) && !file.startsWith('.'));
  return ours.map((file) => file.slice(0, -suffix.length));
}

async function readIfThere(path: string): Promise<Buffer | null> {
  try {
    return await readFile(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw storeUnavailable(`The file ${path}`, error);
  }
}

async function writeNew(path: string, data: string | Uint8Array): Promise<void> {
  const handle = await open(path, 'wx', MODE);
  try {
    await handle.writeFile(data);
    await handle.sync();
  } finally {
    await handle.close();
  }
}
