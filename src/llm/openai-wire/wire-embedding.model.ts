import type { CallOptions } from '../chat.types.js';
import { EmbeddingModel, type EmbeddingResult } from '../embedding-model.js';
import { toEmbeddingResult } from './embedding-reply.mapper.js';
import { toReportedError } from '../wire/reported-error.factory.js';
import type { WireAccess } from '../wire/wire-access.types.js';
import type { ModelClient } from '../wire/wire.client.js';

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
