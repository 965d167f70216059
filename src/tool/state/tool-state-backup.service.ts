import { Injectable, Logger, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { AppError, DAY_MS, messageOf, newId, parseExactJson, RecurringWork } from '../../common/index.js';
import { AppConfig } from '../../config/index.js';
import { Cipher } from '../../security/index.js';
import type { StateBackend } from './backend/state-backend.js';
import { StateBackendRegistry } from './state-backend.registry.js';
import type { StateManagerName } from './stateful-options.types.js';
import { parseFileText, toFileText } from './stores/context-file.parser.js';
import { writesOf, type KeptContext } from './stores/kept-context.mapper.js';
import { isDamage } from './tool-state.error.js';
import { UsedBackendService } from './used-backend.service.js';

/** One line of a backup: a context. */
interface Line {
  readonly manager: StateManagerName;
  readonly tenant: string;
  readonly id: string;
  /** Encrypted, if encryption is configured. */
  readonly text: string;
}

const NAME = /^tool-states-(\d+)-.*\.jsonl\.gz$/;
const WHOLE_HISTORY = 10_000_000;

/** Periodic file backups of all tool states, retained for some days. */
@Injectable()
export class ToolStateBackups implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly logger = new Logger('ToolState');
  private readonly folder: string;
  private work: RecurringWork | undefined;

  constructor(
    private readonly config: AppConfig,
    private readonly homes: StateBackendRegistry,
    private readonly used: UsedBackendService,
    private readonly cipher: Cipher,
  ) {
    this.folder = join(config.dataDir, 'backups');
  }

  onApplicationBootstrap(): void {
    const { backup } = this.config.toolState;
    if (!backup) return;
    this.work = new RecurringWork({
      work: async () => {
        await this.backup();
        await this.prune(Date.now() - backup.keptDays * DAY_MS);
        return backup.intervalMs;
      },
      onFailure: (error) => this.logger.warn(`Tool states could not be backed up: ${messageOf(error)}`),
      retryMs: backup.intervalMs,
    });
    this.work.start(backup.intervalMs);
  }

  async onApplicationShutdown(): Promise<void> {
    await this.work?.stop();
  }

  /** Backs up all managers, except unreadable contexts. Returns the path of the file, which is written atomically. */
  async backup(): Promise<string> {
    await mkdir(this.folder, { recursive: true, mode: 0o700 });
    const path = join(this.folder, `tool-states-${Date.now()}-${newId()}.jsonl.gz`);
    const partial = `${path}.partial`;
    try {
      await pipeline(Readable.from(this.lines()), createGzip(), createWriteStream(partial, { mode: 0o600 }));
      await forceToDisk(partial);
      await rename(partial, path);
      return path;
    } catch (error) {
      await rm(partial, { force: true });
      throw error;
    }
  }

  /** Deletes old backups. @param before epoch ms */
  async prune(before: number): Promise<void> {
    for (const name of await readdir(this.folder)) {
      const made = NAME.exec(name)?.[1];
      if (made !== undefined && Number(made) < before) await rm(join(this.folder, name), { force: true });
    }
  }

  /**
   * Restores every context of a backup with its versions and history; other contexts stay. No run may be active.
   * @returns number of restored contexts
   * @throws AppError `VALIDATION_FAILED` naming an invalid line; earlier lines are restored
   */
  async restore(path: string): Promise<number> {
    let count = 0;
    for await (const text of createInterface({ input: createReadStream(path).pipe(createGunzip()) })) {
      const { manager, kept } = this.parse(text, path, ++count);
      const home = await this.homes.of(manager);
      await home.store.remove(kept.context.id);
      for (const write of writesOf(kept)) await home.store.write(write);
    }
    return count;
  }

  private async *lines(): AsyncGenerator<string> {
    for (const home of await this.used.all()) {
      for (const tenant of await home.store.tenants()) yield* this.linesOf(home, tenant);
    }
  }

  private async *linesOf(home: StateBackend, tenant: string): AsyncGenerator<string> {
    for await (const id of home.contextsOf(tenant)) {
      const kept = await this.readable(home, id);
      if (!kept) continue;
      const text = this.cipher.seal(toFileText(kept), placeOf(tenant, id));
      yield `${JSON.stringify({ manager: home.name, tenant, id, text } satisfies Line)}\n`;
    }
  }

  private async readable(home: StateBackend, id: string): Promise<KeptContext | null> {
    try {
      return await keptIn(home, id);
    } catch (error) {
      if (!isDamage(error)) throw error;
      this.logger.warn(`Tool state ${id} is in no backup: ${error.message}`);
      return null;
    }
  }

  private parse(text: string, path: string, at: number): { manager: StateManagerName; kept: KeptContext } {
    try {
      const { manager, id, tenant, text: sealed } = parseExactJson(text) as Line;
      return { manager, kept: parseFileText(this.cipher.open(sealed, placeOf(tenant, id)), id) };
    } catch (cause) {
      const message = `Line ${at} of ${path} is not one of a backup of tool states: ${messageOf(cause)}`;
      throw new AppError('VALIDATION_FAILED', message, { cause });
    }
  }
}

async function forceToDisk(path: string): Promise<void> {
  const file = await open(path, 'r+');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

async function keptIn({ store }: StateBackend, id: string): Promise<KeptContext | null> {
  const context = await store.load(id);
  if (!context) return null;
  const [versions, history] = await Promise.all([store.versions(id), store.history(id, WHOLE_HISTORY)]);
  return { context, versions: versions.toReversed(), history: history.toReversed() };
}

function placeOf(tenant: string, owner: string) {
  return { tenant, column: 'tool_state_backup.text', owner, row: '' };
}
