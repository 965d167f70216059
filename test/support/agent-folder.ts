import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { JackdawClient } from './jackdaw-client.js';

/** A folder of agent files, and its parent folder. */
export class AgentFolder {
  readonly outside = mkdtempSync(join(tmpdir(), 'jackdaw-agents-'));
  readonly path = join(this.outside, 'agents');

  constructor() {
    mkdirSync(this.path);
  }

  /** Writes a file atomically, as careful editors do. */
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

/** Polls until the answer is as expected: a reload takes an unknown time. */
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
