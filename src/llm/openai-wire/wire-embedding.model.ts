import type { CallOptions } from '../chat.types.js';
import { EmbeddingModel, type EmbeddingResult } from '../embedding-model.js';
import { checkUsage, parseJsonReply } from '../wire/reply.parser.js';
import { toReportedError } from '../wire/reported-error.factory.js';
import type { WireAccess } from '../wire/wire-access.types.js';
import { BadReplyError } from '../wire/wire-failure.error.js';
import type { ModelClient } from '../wire/wire.client.js';
import { toReportedUsage } from './reply.mapper.js';

interface WireEmbedding {
  readonly index?: unknown;
  readonly embedding?: unknown;
}

/**
 * Parses the reply to `count` texts.
 * @param model name to return if the reply contains none
 * @throws WireFailure for a missing vector, or vectors of different lengths
 */
function toEmbeddingResult(body: string, count: number, model: string): EmbeddingResult {
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

/** An embedding model of an OpenAI-compatible provider. */
export class WireEmbeddingModel extends EmbeddingModel {
  readonly provider: string;
  readonly name: string;
  private known: number | null = null;

  constructor(
    private readonly access: WireAccess,
    private readonly client: ModelClient,
  ) {
    super();
    this.provider = access.provider;
    this.name = access.model;
  }

  get dimensions(): number | null {
    return this.known;
  }

  async embed(texts: readonly string[], options: CallOptions = {}): Promise<EmbeddingResult> {
    try {
      const response = await this.client.send({ model: this.name, input: texts }, options);
      const result = toEmbeddingResult(await response.text(), texts.length, this.name);
      this.known = result.vectors[0]?.length ?? this.known;
      return result;
    } catch (thrown) {
      throw options.signal?.aborted ? options.signal.reason : toReportedError(thrown, this.access);
    }
  }
}
