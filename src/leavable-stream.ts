/**
 * An async generator whose consumer can leave at any time: `return` and `throw` (and so a `break`, a `return` or an error inside
 * `for await`) call `onLeave` at once, even while a `next` is pending. A native generator would first wait for that `next`.
 */
export class LeavableStream<T> implements AsyncGenerator<T, void, undefined> {
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
