import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { JackdawClient } from './jackdaw-client.js';

/** A folder of agents' files, and what is around it. */
export class AgentFolder {
  readonly outside = mkdtempSync(join(tmpdir(), 'jackdaw-agents-'));
  readonly path = join(this.outside, 'agents');

  constructor() {
    mkdirSync(this.path);
  }

  /** Writes a file in one go, as editors that are careful do. */
  write(name: string, text: string | object): void {
    const path = join(this.path, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(`${path}~`, typeof text === 'string' ? text : JSON.stringify(text));
    renameSync(`${path}~`, path);
  }

  remove(name: string): void {
    rmSync(join(this.path, name), { recursive: true });
  }

  dispose(): void {
    rmSync(this.outside, { recursive: true });
  }
}

/** Asks until the answer is as expected: a reload takes as long as it takes. */
export async function untilAnswered(
  jackdaw: JackdawClient,
  path: string,
  isExpected: (body: Record<string, never>) => boolean,
): Promise<Record<string, never>> {
  for (;;) {
    const { body } = await jackdaw.get(path);
    if (isExpected(body)) return body;
  }
}
