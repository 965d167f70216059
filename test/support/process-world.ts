import { afterAll, afterEach, beforeAll, beforeEach } from '@jest/globals';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ClusterStore } from './cluster-stores.js';
import { FakeLlm } from './fake-llm.js';
import { buildIfStale, killAll, ServerProcess } from './process.js';

type Env = Readonly<Record<string, string>>;

/** For the build, which other specs may be busy with, in ms. */
const START_TIMEOUT_MS = 120_000;

/** Servers in processes of their own, which come and go on the same data folder and with the same model. */
export class ProcessWorld {
  llm!: FakeLlm;
  /** The data folder of the test. */
  folder!: string;
  private shared: Env = {};

  private constructor() {}

  /** Call it at the top of a spec: each test finds a fresh folder and a model without a script, and leaves no process. */
  static prepare(): ProcessWorld {
    const world = new ProcessWorld();
    beforeAll(async () => {
      buildIfStale();
      world.llm = await FakeLlm.start();
    }, START_TIMEOUT_MS);
    beforeEach(() => {
      world.llm.reset();
      world.folder = mkdtempSync(join(tmpdir(), 'jackdaw-process-'));
    });
    afterEach(async () => {
      await killAll();
      rmSync(world.folder, { recursive: true });
    });
    afterAll(() => world.llm.close());
    return world;
  }

  /** Call it in a `describe`: the processes of each of its tests share a fresh store, and these variables. */
  share(store: ClusterStore, env: Env = {}): void {
    beforeEach(async () => {
      this.shared = { ...(await store.open()), ...env };
    });
    afterEach(async () => {
      this.shared = {};
      await killAll();
      await store.close();
    });
  }

  /** What a process is started with. */
  env(more: Env = {}): Env {
    return { DATA_DIR: this.folder, EFFECTS_FILE: this.effectsFile, ...this.llm.env, ...this.shared, ...more };
  }

  /** Starts the server of `crash-app.mjs` and waits until it answers. */
  start(more: Env = {}): Promise<ServerProcess> {
    return ServerProcess.serve(this.env(more));
  }

  /** What the tools did in all processes, in order: a line for each execution. */
  effects(): string[] {
    return readFileSync(this.effectsFile, 'utf8').trimEnd().split('\n');
  }

  private get effectsFile(): string {
    return join(this.folder, 'effects');
  }
}
