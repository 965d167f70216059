import { FakeProvider } from '../../src/testing/provider/fake-provider.js';
import type { FakeReply, FakeRequest } from './fake-llm.types.js';
import { brokenRules, type BrokenRule, type ProviderName } from './providers/index.js';

export { toChunks, toCompletion } from '../../src/testing/provider/chat-completion.mapper.js';

/** Makes the fake enforce the rules of a provider. */
export interface StrictOptions {
  /** The provider, or its choice by the request. */
  readonly strict?: ProviderName | ((request: FakeRequest) => ProviderName);
}

/**
 * The fake provider of `jackdaw/testing`. With `FakeLlm.start({ strict: 'mistral' })` it first checks each request by the
 * provider's rules (`providers/`), and answers a broken rule with the provider's status and error body; the script waits
 * for the next request.
 */
export class FakeLlm extends FakeProvider {
  /** The rules that requests to a strict fake broke. */
  readonly broken: BrokenRule[] = [];

  private constructor(private readonly options: StrictOptions) {
    super();
  }

  static override async start(options: StrictOptions = {}): Promise<FakeLlm> {
    const llm = new FakeLlm(options);
    await llm.listen();
    return llm;
  }

  override reset(): void {
    super.reset();
    this.broken.length = 0;
  }

  protected override rejection(request: FakeRequest, responses?: FakeRequest): FakeReply | undefined {
    const { strict } = this.options;
    if (strict === undefined) return undefined;
    const provider = typeof strict === 'function' ? strict(request) : strict;
    const broken = responses ? brokenRules('responses', responses) : brokenRules(provider, request);
    this.broken.push(...broken);
    const [first] = broken;
    return first && { status: first.status, body: first.body };
  }
}
