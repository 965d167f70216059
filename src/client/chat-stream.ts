import type { AgentService, StreamedChat } from '../agent/index.js';
import { asSchemaOutput, type GivenFormat, textOf } from '../agent/answer/index.js';
import { assertOneOf, type ChatStreamOptions, IterationLimitError, toReply } from './agent-reply.mapper.js';
import type { Principal } from '../kernel/index.js';
import type { RunService } from '../run/index.js';

/**
 * Starts a run at the first `next` and yields its text. Leaving the iterator cancels the run unless `onLeave` is `continue`.
 * @param agents called at the first `next`; throws once the agent is closed
 * @param format the effective format of the answer: the request's or the agent's
 * @throws AppError `VALIDATION_FAILED` for an invalid option
 */
export function openChatStream(
  agents: () => AgentService,
  runs: RunService,
  principal: Principal,
  request: ChatStreamOptions & { readonly query: string },
  format: GivenFormat | undefined,
): AsyncGenerator<string, void> {
  const { onRestart = 'throw', onLeave = 'cancel', ...chat } = request;
  assertOneOf('onRestart', onRestart, ['throw', 'hold']);
  assertOneOf('onLeave', onLeave, ['cancel', 'continue']);
  const leaving = new AbortController();
  let started: Promise<StreamedChat> | undefined;

  async function* text(): AsyncGenerator<string, void> {
    const service = agents();
    const run = await (started = service.stream(principal, chat, leaving.signal));
    const replies = onRestart === 'hold' ? 'replies' : 'live';
    const reason = yield* textOf(run.items, {
      runId: run.id,
      delivery: run.isStructured ? 'answer' : replies,
      accept: (output) => asSchemaOutput(format, output),
    });
    // Text alone cannot show that it is not the answer.
    if (reason === 'iteration_limit') throw new IterationLimitError(toReply(await service.outcome(principal, run.id)));
  }

  return new LeavableStream(text(), async () => {
    leaving.abort();
    if (onLeave === 'continue') return;
    const run = await started?.catch(() => undefined);
    if (run) await runs.leave(run.id);
  });
}

/**
 * An async generator whose consumer can leave at any time: `return` and `throw` (and so a `break`, a `return` or an error inside
 * `for await`) call `onLeave` at once, even while a `next` is pending. A native generator would first wait for that `next`.
 */
class LeavableStream<T> implements AsyncGenerator<T, void, undefined> {
  private isOver = false;

  /** @param onLeave called at most once, and not when the source has ended or failed by itself */
  constructor(
    private readonly source: AsyncGenerator<T, void>,
    private readonly onLeave: () => Promise<void>,
  ) {}

  async next(): Promise<IteratorResult<T, void>> {
    try {
      const result = await this.source.next();
      if (result.done) this.isOver = true;
      return result;
    } catch (error) {
      this.isOver = true;
      throw error;
    }
  }

  async return(): Promise<IteratorResult<T, void>> {
    await this.leave();
    return this.source.return();
  }

  async throw(error: unknown): Promise<IteratorResult<T, void>> {
    await this.leave();
    return this.source.throw(error);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return();
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  private async leave(): Promise<void> {
    if (this.isOver) return;
    this.isOver = true;
    await this.onLeave();
  }
}
