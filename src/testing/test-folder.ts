import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A folder for the data of one test. */
export class TestFolder {
  readonly path = mkdtempSync(join(tmpdir(), 'jackdaw-test-'));

  /** The variables of an application on this folder, without network and without a wait at its end. */
  get variables(): Readonly<Record<string, string>> {
    return {
      DATA_DIR: this.path,
      DATABASE_URL: `sqlite:${join(this.path, 'jackdaw.db')}`,
      LLM_PROVIDER: 'offline',
      SHUTDOWN_TIMEOUT_MS: '0',
    };
  }

  remove(): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}
