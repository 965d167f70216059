import { AppError, Log, messageOf } from '../../errors/index.js';
import { KeyedQueue } from '../../persistence/index.js';
import type { Cipher, RowPlace } from '../../security/encryption/index.js';
import type { ContextFilter, ContextKey, StateHistoryEntry } from '../tool-state.types.js';
import { idOfListed, keyInDamaged, parseFileText, toFileText } from './context-file.parser.js';
import { ContextIndex } from './context-index.js';
import { applyWrite, historyOf, type ContextRecord } from './context-record.js';
import { StateCodec } from './state-codec.js';
import { StateFolder } from './state-folder.js';
import { stateFileDamaged } from './guarded-state-store.js';
import { StateStore, type ContextWrite, type StoredContext, type StoredVersion } from './state-store.js';

export interface FileStateOptions {
  readonly cipher?: Cipher;
  readonly isCompressed?: boolean;
}

/** Number of files read concurrently at start. */
const AT_ONCE = 16;

/** Stores contexts as files of a folder, one per context. The folder belongs to one process. */
export class FileStateStore extends StateStore {
  private readonly logger = new Log(FileStateStore.name);
  private readonly index = new ContextIndex();
  /** Errors of unreadable files, by context id. Such a context is not replaced by an empty one. */
  private readonly spoilt = new Map<string, AppError>();
  /** Own queue per context: the removal of an expired context does not pass the queue of its writers. */
  private readonly queue = new KeyedQueue();

  private constructor(
    private readonly folder: StateFolder,
    private readonly codec: StateCodec,
  ) {
    super();
  }

  /**
   * Rewrites files whose compression or encryption differs from the settings.
   * @throws AppError `DATABASE_LOCKED` if another process uses the folder, `TOOL_STATE_UNAVAILABLE`,
   * `ENCRYPTION_KEY_UNKNOWN`
   */
  static async open(path: string, { cipher, isCompressed = false }: FileStateOptions = {}): Promise<FileStateStore> {
    // Encrypted data do not compress: compress before encryption.
    const isSealed = (cipher?.head ?? null) !== null;
    const codec = new StateCodec({ ...(cipher && { cipher }), isCompressed: isCompressed && isSealed });
    const folder = await StateFolder.open(path, isCompressed && !isSealed);
    const store = new FileStateStore(folder, codec);
    try {
      await store.readAll();
      return store;
    } catch (error) {
      folder.close();
      throw error;
    }
  }

  async load(id: string): Promise<StoredContext | null> {
    return (await this.read(id))?.context ?? null;
  }

  async keyOf(id: string): Promise<ContextKey | null> {
    return this.index.keyOf(id);
  }

  write(write: ContextWrite): Promise<boolean> {
    const { id } = write.context;
    return this.queue.next(id, async () => {
      const record = applyWrite(await this.read(id), write);
      if (!record) return false;
      await this.put(record);
      return true;
    });
  }

  async versions(id: string): Promise<StoredVersion[]> {
    return (await this.read(id))?.versions.toReversed() ?? [];
  }

  async history(id: string, limit: number, before?: number): Promise<StateHistoryEntry[]> {
    const record = await this.read(id);
    return record ? historyOf(record, limit, before) : [];
  }

  /** Without a revision an unreadable context is removed too. */
  remove(id: string, revision?: number): Promise<boolean> {
    return this.queue.next(id, async () => {
      if (!this.knows(id)) return false;
      if (revision !== undefined && (await this.read(id))?.context.revision !== revision) return false;
      await this.folder.remove(id);
      if (this.spoilt.delete(id)) await this.folder.remove(id, true);
      this.index.remove(id);
      return true;
    });
  }

  async list(filter: ContextFilter): Promise<string[]> {
    return this.index.list(filter, Date.now());
  }

  async expired(now: number, limit: number): Promise<string[]> {
    return this.index.expired(now, limit);
  }

  async tenants(): Promise<string[]> {
    return this.index.tenants();
  }

  async close(): Promise<void> {
    this.folder.close();
  }

  private knows(id: string): boolean {
    return this.index.has(id) || this.spoilt.has(id);
  }

  /** Reads indexed ids only: an id from a request can be any text. */
  private async read(id: string): Promise<ContextRecord | null> {
    if (!this.knows(id)) return null;
    const text = await this.folder.read(id);
    if (text !== null) return this.parse(id, text, this.folder.pathOf(id));
    const fault = this.spoilt.get(id);
    if (fault) throw fault;
    return null;
  }

  private async put(record: ContextRecord): Promise<void> {
    const { context } = record;
    await this.folder.write(context.id, this.codec.seal(toFileText(record), placeOf(context.id)));
    this.index.put(context);
    this.spoilt.delete(context.id);
  }

  private parse(id: string, text: string, path: string): ContextRecord {
    try {
      return parseFileText(this.codec.open(text, placeOf(id)), id);
    } catch (error) {
      if (error instanceof AppError && error.code === 'ENCRYPTION_KEY_UNKNOWN') throw error;
      throw stateFileDamaged(path, messageOf(error), error);
    }
  }

  private async readAll(): Promise<void> {
    const { current, old } = await this.folder.names();
    const known = new Set(current);
    const files = [
      ...current.map((id) => () => this.take(id)),
      // A crash between writing the new file and removing the old one leaves both; the new one is current.
      ...old.map((id) => () => (known.has(id) ? this.folder.remove(id, true) : this.take(id, true))),
    ];
    const next = files.values();
    const workers = Array.from({ length: AT_ONCE }, async () => {
      for (const work of next) await work();
    });
    await Promise.all(workers);
  }

  private async take(name: string, isOld = false): Promise<void> {
    let text = '';
    let id = name;
    try {
      text = (await this.folder.read(name, isOld)) ?? '';
      id = idOfListed(text, name);
      await this.folder.rename(name, id, isOld);
      const record = this.parse(id, text, this.folder.pathOf(id, isOld));
      this.index.put(record.context);
      if (isOld || !this.codec.isCurrent(text)) await this.put(record);
      if (isOld) await this.folder.remove(id, true);
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'TOOL_STATE_UNAVAILABLE') throw error;
      this.spoilt.set(id, error);
      const key = keyInDamaged(text, id);
      if (key) this.index.put({ id, ...key, expiresAt: null });
      this.logger.warn(error.message);
    }
  }
}

/** The key is part of the encrypted data: before decryption only the file name is known. */
function placeOf(id: string): RowPlace {
  return { tenant: '', column: 'tool_state.file', owner: id, row: '' };
}
