import { Redis } from 'ioredis';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A row of a turn table, for every kind of turn store. */
export interface StoredTurnRow {
  readonly session_id: string;
  readonly turn: number;
  readonly run_id: string;
  /** JSON. */
  readonly messages: string;
}

interface ArchivedTurn {
  readonly turn: number;
  readonly runId: string;
  readonly messages: unknown;
}

/** The tenant of callers without a key. */
const TENANT = 'default';

/** Reads the files of `SESSION_STORE=file`. Throws for a torn line. */
export function readFileTurns(folder: string): StoredTurnRow[] {
  if (!existsSync(folder)) return [];
  const files = readdirSync(folder).filter((name) => name.endsWith('.jsonl'));
  return files.flatMap((name) => {
    const lines = readFileSync(join(folder, name), 'utf8').trimEnd().split('\n');
    const [head, ...rest] = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    const { id } = head!['session'] as { id: string };
    return rest.flatMap(({ turn }) => (turn ? [toRow(id, turn as ArchivedTurn)] : []));
  });
}

/** Reads the hashes of `SESSION_STORE=redis://…`. */
export async function readRedisTurns(url: string, sessions: readonly string[]): Promise<StoredTurnRow[]> {
  return withRedis(url, async (redis) => {
    const hashes = await Promise.all(sessions.map((id) => redis.hgetall(turnsKey(id))));
    return hashes.flatMap((hash, at) => {
      const turns = Object.entries(hash).filter(([field]) => /^\d+$/.test(field));
      return turns.map(([, text]) => toRow(sessions[at]!, JSON.parse(text) as ArchivedTurn));
    });
  });
}

export async function forgetRedisTurns(url: string, sessions: readonly string[]): Promise<void> {
  if (sessions.length > 0)
    await withRedis(url, (redis) => redis.unlink(...sessions.flatMap((id) => [turnsKey(id), doneKey(id)])));
}

async function withRedis<T>(url: string, work: (redis: Redis) => Promise<T>): Promise<T> {
  const redis = new Redis(url);
  try {
    return await work(redis);
  } finally {
    redis.disconnect();
  }
}

function turnsKey(id: string): string {
  return `jackdaw:session:{${TENANT}:${id}}:turns`;
}

function doneKey(id: string): string {
  return `jackdaw:session:{${TENANT}:${id}}:done`;
}

function toRow(session_id: string, { turn, runId, messages }: ArchivedTurn): StoredTurnRow {
  return { session_id, turn, run_id: runId, messages: JSON.stringify(messages) };
}
