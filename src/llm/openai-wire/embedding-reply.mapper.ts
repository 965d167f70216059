import type { EmbeddingResult } from '../embedding-model.js';
import { parseJsonReply } from '../wire/json-reply.parser.js';
import { checkUsage } from '../usage.policy.js';
import { toReportedUsage } from './usage.mapper.js';
import { BadReplyError } from '../wire/wire-failure.error.js';

interface WireEmbedding {
  readonly index?: unknown;
  readonly embedding?: unknown;
}

/**
 * Parses the reply to `count` texts.
 * @param model name to return if the reply contains none
 * @throws WireFailure for a missing vector, or vectors of different lengths
 */
export function toEmbeddingResult(body: string, count: number, model: string): EmbeddingResult {
  const reply = parseJsonReply(body);
  // All tokens are prompt tokens; an embedding generates none.
  const total = checkUsage(toReportedUsage(reply['usage']))?.totalTokens;
  return {
    vectors: toVectors(reply['data'], count),
    model: typeof reply['model'] === 'string' && reply['model'] !== '' ? reply['model'] : model,
    ...(total !== undefined && { usage: { promptTokens: total, totalTokens: total } }),
  };
}

function toVectors(data: unknown, count: number): (readonly number[])[] {
  const entries: readonly unknown[] = Array.isArray(data) ? data : [];
  if (entries.length !== count) throw new BadReplyError(`${entries.length} embeddings for ${count} texts`);
  const vectors: (readonly number[])[] = [];
  for (const [at, entry] of entries.entries()) {
    const { index, embedding } = (entry ?? {}) as WireEmbedding;
    if (!isVector(embedding)) throw new BadReplyError('an embedding that is not a list of numbers');
    vectors[Number.isInteger(index) ? (index as number) : at] = embedding;
  }
  const lengths = new Set(Array.from({ length: count }, (_, at) => vectors[at]?.length));
  if (lengths.size > 1 || vectors.length !== count) throw new BadReplyError('embeddings that do not belong together');
  return vectors;
}

function isVector(value: unknown): value is number[] {
  return Array.isArray(value) && value.length > 0 && value.every((number) => Number.isFinite(number));
}
