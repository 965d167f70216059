import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ClusterStore } from './cluster-stores.js';
import { FakeLlm } from './fake-llm.js';
import { buildIfStale, killAll, ServerProcess } from './process.js';

type Env = Readonly<Record<string, string>>;

/** Servers in processes of their own, started and killed on the same data folder with the same model. */
export class ProcessWorld {
  llm!: FakeLlm;
  /** The data folder of the test. */
  folder!: string;
  private shared: Env = {};

  private constructor(
    private readonly begin: typeof beforeEach,
    private readonly end: typeof afterEach,
  ) {}

  /**
   * Call it at the top of a spec: each test gets an empty folder and a model without a script, and leaves no process.
   */
  static prepare(): ProcessWorld {
    return ProcessWorld.with(beforeEach, afterEach);
  }

  /** The same for processes that live as long as their `describe`: each test gets a model without a script. */
  static prepareLasting(): ProcessWorld {
    const world = ProcessWorld.with(beforeAll, afterAll);
    beforeEach(() => {
      world.llm.reset();
      writeFileSync(world.effectsFile, '');
    });
    return world;
  }

  private static with(begin: typeof beforeEach, end: typeof afterEach): ProcessWorld {
    const world = new ProcessWorld(begin, end);
    beforeAll(async () => {
      buildIfStale();
      world.llm = await FakeLlm.start();
    });
    begin(() => {
      world.llm.reset();
      world.folder = mkdtempSync(join(tmpdir(), 'jackdaw-process-'));
    });
    end(async () => {
      await killAll();
      rmSync(world.folder, { recursive: true });
    });
    afterAll(() => world.llm.close());
    return world;
  }

  /** Call it in a `describe`: its processes share a fresh store, and these variables. */
  share(store: ClusterStore, env: Env = {}): void {
    this.begin(async () => {
      this.shared = { ...(await store.open()), ...env };
    });
    this.end(async () => {
      this.shared = {};
      await killAll();
      await store.close();
    });
  }

  /** The environment of a process. */
  env(more: Env = {}): Env {
    return { DATA_DIR: this.folder, EFFECTS_FILE: this.effectsFile, ...this.llm.env, ...this.shared, ...more };
  }

  /** Starts the server of `crash-app.mjs` and waits until it answers. */
  start(more: Env = {}): Promise<ServerProcess> {
    return ServerProcess.serve(this.env(more));
  }

  /** The effects of the tools in all processes, in order: a line for each execution. */
  effects(): string[] {
    return readFileSync(this.effectsFile, 'utf8').trimEnd().split('\n');
  }

  private get effectsFile(): string {
    return join(this.folder, 'effects');
  }
}
