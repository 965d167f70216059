/** Decisions about the calls of one reply that do not depend on which call starts or ends first. */
export class ReplyPlan {
  private readonly handoffs: ReadonlyMap<number, PromiseWithResolvers<boolean>>;

  /**
   * @param handoffs the indexes of the calls that hand the conversation over
   * @param separate the indexes of the questions that do not continue the session shared with the agent
   * @param started the index of the hand-off that an earlier execution started, or -1
   */
  constructor(
    handoffs: readonly number[] = [],
    private readonly separate: ReadonlySet<number> = new Set(),
    private readonly started = -1,
  ) {
    this.handoffs = new Map(handoffs.map((index) => [index, Promise.withResolvers<boolean>()]));
  }

  isSeparate(index: number): boolean {
    return this.separate.has(index);
  }

  /**
   * Waits for the decisions about earlier hand-offs.
   * @returns the hand-off that is executed instead of this one, or -1
   */
  async chosenInstead(index: number): Promise<number> {
    if (!this.handoffs.has(index)) return -1;
    if (this.started >= 0) return this.started;
    for (const [earlier, { promise }] of this.handoffs) if (earlier < index && (await promise)) return earlier;
    return -1;
  }

  /** Marks the hand-off as the one to execute. Other calls are ignored. */
  choose(index: number): void {
    this.handoffs.get(index)?.resolve(true);
  }

  /** Awaits a call. If a hand-off is rejected, the next one may be executed. */
  async follow<Outcome extends { readonly kind: string; readonly child?: unknown }>(
    index: number,
    execution: Promise<Outcome>,
  ): Promise<Outcome> {
    try {
      const outcome = await execution;
      this.handoffs.get(index)?.resolve(outcome.kind === 'waiting' || outcome.child !== undefined);
      return outcome;
    } catch (error) {
      this.choose(index);
      throw error;
    }
  }
}

/** The plan of a reply without hand-offs and sub-agents. */
export const NO_REPLY_PLAN = new ReplyPlan();
