import { hash } from 'node:crypto';
import type { FakeEnvelope, FakeReply } from './fake-provider.types.js';

/** The body of an embedding request, as received. */
export interface FakeEmbeddingRequest {
  readonly model: string;
  readonly input: readonly string[];
  readonly [field: string]: unknown;
}

/** A reply, or a function from a request to a reply; `null` for vectors. */
type FakeEmbeddingScript = FakeReply | null | ((request: FakeEmbeddingRequest) => FakeReply | null);

const DIMENSIONS = 64;

/** The embedding model of the fake: texts with the same words, or with synonyms, are near each other. */
export class FakeEmbeddings {
  /** The received bodies, in order. */
  readonly requests: FakeEmbeddingRequest[] = [];
  /** Path and headers of each request. */
  readonly envelopes: FakeEnvelope[] = [];
  private readonly meanings = new Map<string, string>();
  private readonly script: FakeEmbeddingScript[] = [];
  private fallback: FakeEmbeddingScript = null;
  private came = Promise.withResolvers<void>();

  /** Adds replies to the script, mostly faults; without a script it answers with vectors. */
  reply(...replies: FakeEmbeddingScript[]): this {
    this.script.push(...replies);
    return this;
  }

  /** The reply when the script is empty; `null` for vectors. */
  always(reply: FakeEmbeddingScript): this {
    this.fallback = reply;
    return this;
  }

  /** Declares words as synonyms. */
  mean(...words: readonly string[]): this {
    for (const word of words) this.meanings.set(word, words[0]!);
    return this;
  }

  reset(): void {
    this.requests.length = this.envelopes.length = this.script.length = 0;
    this.meanings.clear();
    this.fallback = null;
    this.came = Promise.withResolvers();
  }

  /** Waits until a request has arrived. */
  async waitForRequest(): Promise<void> {
    await this.came.promise;
  }

  answer(request: FakeEmbeddingRequest, envelope: FakeEnvelope): FakeReply {
    this.requests.push(request);
    this.envelopes.push(envelope);
    this.came.resolve();
    const script = this.script.shift() ?? this.fallback;
    const reply = typeof script === 'function' ? script(request) : script;
    return reply ?? { status: 200, body: this.body(request) };
  }

  private body({ model, input }: FakeEmbeddingRequest): unknown {
    const data = input.map((text, index) => ({ object: 'embedding', index, embedding: this.vector(text) }));
    return { object: 'list', data: data.toReversed(), model, usage: { prompt_tokens: 7, total_tokens: 7 } };
  }

  private vector(text: string): number[] {
    const vector = Array.from({ length: DIMENSIONS }, () => 0);
    for (const word of text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []) {
      const digest = hash('sha256', this.meanings.get(word) ?? word, 'buffer');
      for (let at = 0; at < 8; at++) vector[digest[at]! % DIMENSIONS]! += digest[8 + at]! > 127 ? 1 : -1;
    }
    return vector;
  }
}
