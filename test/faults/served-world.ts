import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FakeLlm } from '../support/fake-llm.js';
import type { FakeReply, FakeRequest } from '../support/fake-llm.types.js';
import { buildIfStale, killAll, program, ServerProcess } from '../support/process.js';

/** Calls the tool with the number of ms that follows "send". */
function reply({ messages }: FakeRequest): FakeReply {
  const last = messages.at(-1);
  const [word, wait = '0'] = String(last?.content).split(' ');
  if (last?.role !== 'user' || word !== 'send') return { text: 'done' };
  return { calls: [{ id: 'c1', name: 'send_parcel', arguments: { to: 'Oslo', waitMs: Number(wait) } }] };
}

/** Servers in processes of their own, as a user starts them. */
export class ServedWorld {
  folder!: string;
  private llm!: FakeLlm;

  /** Call it in a `describe`: each test gets an empty folder, and leaves no process. */
  static prepare(): ServedWorld {
    const world = new ServedWorld();
    beforeAll(async () => {
      buildIfStale();
      world.llm = (await FakeLlm.start()).always(reply);
    });
    beforeEach(() => {
      world.folder = mkdtempSync(join(tmpdir(), 'jackdaw-faults-'));
      writeFileSync(world.effectsFile, '');
    });
    afterEach(async () => {
      await killAll();
      rmSync(world.folder, { recursive: true, force: true });
    });
    afterAll(() => world.llm.close());
    return world;
  }

  get dataDir(): string {
    return join(this.folder, 'data');
  }

  async start(env: Record<string, string> = {}): Promise<ServerProcess> {
    const server = this.launch(env);
    await server.waitForLine('ready ');
    return server;
  }

  /** Starts a server that may fail to start. */
  launch(env: Record<string, string> = {}): ServerProcess {
    return ServerProcess.start(program('served-app'), {
      DATA_DIR: this.dataDir,
      EFFECTS_FILE: this.effectsFile,
      LOG_LEVEL: 'info',
      ...this.llm.env,
      ...env,
    });
  }

  effects(): string[] {
    return readFileSync(this.effectsFile, 'utf8').split('\n').filter(Boolean);
  }

  private get effectsFile(): string {
    return join(this.folder, 'effects');
  }
}

/** Repeats `look` until it returns true. */
export async function until(look: () => Promise<boolean>): Promise<void> {
  while (!(await look())) await new Promise((resolve) => setTimeout(resolve, 25));
}

/** The status of a path; 0 if the server does not answer. */
export function statusOf(server: ServerProcess, path: string): Promise<number> {
  return server.get(path).then(
    ({ status }) => status,
    () => 0,
  );
}
