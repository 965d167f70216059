import type { ModelBudget, Reservation } from '../llm/budget/index.js';
import type { Usage } from '../llm/chat/index.js';
import { meterOf } from '../tool/call/index.js';
import type { ToolContext } from '../tool/method/index.js';

type Meter = NonNullable<ReturnType<typeof meterOf>>;

/**
 * The share of a remote task in the budgets of its run. It reserves like a model call, so that a used-up budget refuses
 * the call, and passes the remaining tokens on. The usage that the agent reports counts if its results are trusted: another
 * one could use up the budgets of a day by a false report.
 */
export class RemoteBudget {
  private used: Usage | undefined;

  private constructor(
    private readonly model: string,
    private readonly meter: Meter | undefined,
    private readonly reservation: Reservation | null,
    private readonly isCounted: boolean,
  ) {}

  /** @throws AppError `BUDGET_EXCEEDED` */
  static async open(
    budget: ModelBudget,
    agent: { readonly name: string; readonly isTrusted: boolean },
    message: string,
    context: ToolContext,
  ): Promise<RemoteBudget> {
    const model = `a2a:${agent.name}`;
    const meter = meterOf(context);
    const account = meter?.next();
    const request = { messages: [{ role: 'user' as const, content: message }] };
    const reservation = budget.limits(account)
      ? await budget.reserve(account, { model, request, price: undefined })
      : null;
    return new RemoteBudget(model, meter, reservation, agent.isTrusted);
  }

  /** Tokens that the task may use; `undefined` without a limit of tokens. */
  async remainingTokens(): Promise<number | undefined> {
    return (await this.reservation?.remaining()) ?? undefined;
  }

  /** The usage of the ended task. */
  report(usage: Usage | undefined): void {
    this.used = usage;
  }

  /** Replaces the reservation by the reported usage, or releases it. */
  async close(): Promise<void> {
    const usage = this.isCounted ? this.used : undefined;
    if (!usage) return void (await this.reservation?.settle({ kind: 'refused' }));
    const message = { role: 'assistant' as const, content: '' };
    await this.reservation?.settle({
      kind: 'answered',
      result: { message, finishReason: 'stop', model: this.model, usage },
    });
    this.meter?.count(this.model, usage);
  }
}
