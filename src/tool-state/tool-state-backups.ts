import { Inject, Injectable, type OnApplicationBootstrap, type BeforeApplicationShutdown } from '@nestjs/common';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, open, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { AppError, Log, messageOf } from '../errors/index.js';
import { DAY_MS, newId, RecurringWork } from '../kernel/index.js';
import { parseExactJson } from '../kernel/json/index.js';
import { replaceFile } from '../kernel/platform/durable-files.js';
import {
  databaseConfig,
  type DatabaseConfig,
  toolStateConfig,
  type ToolStateConfig,
} from '../config/namespaces/index.js';
import { prepareFolder } from '../persistence/index.js';
import { Cipher } from '../security/encryption/index.js';
import type { StateBackend } from './backend/state-backend.js';
import { StateBackendRegistry } from './state-backend.registry.js';
import type { StateManagerName } from '../tool/stateful/index.js';
import { parseFileText, toFileText } from './backend/context-file.parser.js';
import { writesOf, type ContextRecord } from './backend/context-record.js';
import { isDamage } from './tool-state.error.js';
import { UsedBackendService } from './tool-state-maintenance.service.js';

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
export class ToolStateBackups implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Log('ToolState');
  private readonly folder: string;
  private work: RecurringWork | undefined;

  constructor(
    @Inject(toolStateConfig.KEY) private readonly config: ToolStateConfig,
    @Inject(databaseConfig.KEY) { dataDir }: DatabaseConfig,
    private readonly backends: StateBackendRegistry,
    private readonly used: UsedBackendService,
    private readonly cipher: Cipher,
  ) {
    this.folder = join(dataDir, 'backups');
  }

  /** @throws AppError `CONFIG_INVALID` if the folder of the backups or of the states cannot be written */
  async onApplicationBootstrap(): Promise<void> {
    const { backup, manager, path } = this.config;
    if (manager === 'persistent' && path !== null) await prepareFolder(path);
    if (!backup) return;
    await prepareFolder(this.folder);
    this.work = new RecurringWork({
      work: async () => {
        await this.backup();
        await this.prune(Date.now() - backup.keptDays * DAY_MS);
        return backup.intervalMs;
      },
      onFailure: (error) => this.logger.warn(`Tool states could not be backed up: ${messageOf(error)}`),
      retryMs: backup.intervalMs,
      onClockJump: (jumpMs) => this.logger.warn({ jump_ms: jumpMs }, 'Wall clock jumped; backups wait for 10 minutes'),
    });
    this.work.start(backup.intervalMs);
  }

  async beforeApplicationShutdown(): Promise<void> {
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
      await replaceFile(partial, path);
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
      const { manager, record } = this.parse(text, path, ++count);
      const backend = await this.backends.of(manager);
      await backend.store.remove(record.context.id);
      for (const write of writesOf(record)) await backend.store.write(write);
    }
    return count;
  }

  private async *lines(): AsyncGenerator<string> {
    for (const backend of await this.used.all()) {
      for (const tenant of await backend.store.tenants()) yield* this.linesOf(backend, tenant);
    }
  }

  private async *linesOf(backend: StateBackend, tenant: string): AsyncGenerator<string> {
    for await (const id of backend.contextsOf(tenant)) {
      const record = await this.readable(backend, id);
      if (!record) continue;
      const text = this.cipher.seal(toFileText(record), placeOf(tenant, id));
      yield `${JSON.stringify({ manager: backend.name, tenant, id, text } satisfies Line)}\n`;
    }
  }

  private async readable(backend: StateBackend, id: string): Promise<ContextRecord | null> {
    try {
      return await recordIn(backend, id);
    } catch (error) {
      if (!isDamage(error)) throw error;
      this.logger.warn(`Tool state ${id} is in no backup: ${error.message}`);
      return null;
    }
  }

  private parse(text: string, path: string, at: number): { manager: StateManagerName; record: ContextRecord } {
    try {
      const { manager, id, tenant, text: sealed } = parseExactJson(text) as Line;
      return { manager, record: parseFileText(this.cipher.open(sealed, placeOf(tenant, id)), id) };
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

async function recordIn({ store }: StateBackend, id: string): Promise<ContextRecord | null> {
  const context = await store.load(id);
  if (!context) return null;
  const [versions, history] = await Promise.all([store.versions(id), store.history(id, WHOLE_HISTORY)]);
  return { context, versions: versions.toReversed(), history: history.toReversed() };
}

function placeOf(tenant: string, owner: string) {
  return { tenant, column: 'tool_state_backup.text', owner, row: '' };
}
