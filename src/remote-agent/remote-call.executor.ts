import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { AppError, Log, messageOf } from '../errors/index.js';
import type { JsonValue } from '../kernel/json/index.js';
import type { ModelBudget } from '../llm/budget/index.js';
import { isRelinquished } from '../run/context/index.js';
import type { OutgoingClient } from '../security/egress/index.js';
import { type Reconciliation, suspend, type Suspension } from '../tool/index.js';
import { noteOf, endsAtOf } from '../tool/call/index.js';
import type { ToolContext } from '../tool/method/index.js';
import { RemoteAgentClient, RemoteAgentError, type RemoteReply, type SentParts } from './remote-agent.client.js';
import { RemoteBudget } from './remote-budget.js';
import type { RemoteAgent } from './remote-agent.types.js';
import type { RemoteCardService } from './remote-card.service.js';
import { type RemoteMemo, toAnswerParts, toQuestion } from './remote-question.mapper.js';
import type { RemoteTask } from './remote-task.mapper.js';

/** Pause before the second look at a task, in ms; later pauses grow up to the interval of the configuration. */
const FIRST_PAUSE_MS = 100;
const GROWTH = 1.5;
/** Attempts to send a message to an agent that accepts it once. */
const ATTEMPTS = 3;
const CANCEL_MS = 10_000;

/** The part of a call that the journal records before the call waits. */
type Note = Pick<RemoteMemo, 'taskId' | 'contextId'>;

/** The common parts of all calls of remote agents. */
export interface RemoteWorld {
  readonly http: OutgoingClient;
  readonly cards: RemoteCardService;
  readonly budget: ModelBudget;
  /** Longest pause between two looks at a task, in ms. */
  readonly pollMs: number;
}

type Outcome = JsonValue | Suspension;

/** The parts of one call in execution. */
interface RemoteCall {
  readonly client: RemoteAgentClient;
  readonly context: ToolContext;
  readonly budget: RemoteBudget;
}

/** Calls of one remote agent: a task is sent once, then looked at until it ends or asks. */
export class RemoteCalls {
  private readonly logger = new Log('RemoteAgents');

  constructor(
    private readonly agent: RemoteAgent,
    private readonly world: RemoteWorld,
  ) {}

  /**
   * Sends the message, or continues the task of an earlier execution of the call.
   * @throws AppError `BUDGET_EXCEEDED`, `TOOL_HELD`, `TOOL_EXECUTION_FAILED`, `OUTGOING_…`; the signal's reason if it aborts
   */
  async make(message: string, context: ToolContext): Promise<Outcome> {
    const { name, untrusted = true } = this.agent;
    const budget = await RemoteBudget.open(this.world.budget, { name, isTrusted: !untrusted }, message, context);
    try {
      return await this.made(message, context, budget);
    } finally {
      await budget.close();
    }
  }

  private async made(message: string, context: ToolContext, budget: RemoteBudget): Promise<Outcome> {
    const { client, isIdempotent } = await this.open(context.signal);
    const memo = memoOf(context);
    const known = memo?.taskId ?? (await readNote(context))?.taskId;
    const call = { client, context, budget };
    if (known !== undefined) return this.within(call, known, () => this.continued(client, known, context));
    const reply = await this.sent(call, message, isIdempotent);
    if ('answer' in reply) return reply.answer;
    const { id: taskId, contextId } = reply.task;
    return this.within(call, taskId, async () => {
      await noteOf(context)?.write({ taskId, contextId } satisfies Note);
      return reply.task;
    });
  }

  /** Follows a task to its end. A call that is aborted cancels it, unless its run continues in another process. */
  private async within(call: RemoteCall, taskId: string, begin: () => Promise<RemoteTask>): Promise<Outcome> {
    const { signal } = call.context;
    try {
      return await this.ended(call, await begin());
    } catch (error) {
      if (signal.aborted && !isRelinquished(signal)) this.cancel(call.client, taskId);
      throw error;
    }
  }

  /** The outcome of a call that a crash interrupted: a repetition continues the task that the journal names. */
  async reconcile(context: ToolContext): Promise<Reconciliation> {
    if (await readNote(context)) return { outcome: 'not_happened' };
    const { isIdempotent } = await this.open(context.signal);
    return { outcome: isIdempotent ? 'not_happened' : 'unknown' };
  }

  /** A task as it is now. @throws AppError as `make` */
  async look(taskId: string, signal: AbortSignal): Promise<RemoteTask> {
    const { client } = await this.open(signal);
    return client.get(taskId, signal);
  }

  /** Cancels the task of a run that was cancelled while it waited. */
  async abandon(taskId: string, signal: AbortSignal): Promise<void> {
    const { client } = await this.open(signal);
    this.cancel(client, taskId);
  }

  private async open(signal: AbortSignal): Promise<{ client: RemoteAgentClient; isIdempotent: boolean }> {
    const { url, isIdempotent } = await this.world.cards.endpointOf(this.agent, signal);
    return { client: new RemoteAgentClient(this.agent, this.world.http, url), isIdempotent };
  }

  private async sent(
    { client, context, budget }: RemoteCall,
    message: string,
    isIdempotent: boolean,
  ): Promise<RemoteReply> {
    const endsAt = endsAtOf(context);
    const budgetTokens = await budget.remainingTokens();
    const sent: SentParts = {
      messageId: context.key,
      parts: [{ text: message }],
      ...(endsAt !== undefined && { remainingMs: Math.max(1, endsAt - Date.now()) }),
      ...(budgetTokens !== undefined && { budgetTokens: Math.max(1, budgetTokens) }),
    };
    for (let attempt = 1; ; attempt++) {
      try {
        return await client.send(sent, context.signal);
      } catch (error) {
        if (!isIdempotent || attempt === ATTEMPTS || !isTransient(error)) throw error;
        await delay(FIRST_PAUSE_MS * 2 ** attempt, undefined, { signal: context.signal });
      }
    }
  }

  /** Passes the answer of a person here on, unless a person there was faster. */
  private async continued(client: RemoteAgentClient, taskId: string, context: ToolContext): Promise<RemoteTask> {
    const { answer, signal } = context;
    const memo = memoOf(context);
    // Without a person, the watcher has seen that the task continued.
    if (!answer || !memo || answer.by === '') return client.get(taskId, signal);
    if (answer.denied && memo.interruptIds.length === 0) await client.cancel(taskId, signal);
    else await this.answered(client, memo, context);
    return client.get(taskId, signal);
  }

  private async answered(client: RemoteAgentClient, memo: RemoteMemo, context: ToolContext): Promise<void> {
    const { interruptIds, contextId, taskId } = memo;
    const { key, signal, answer } = context;
    const hash = createHash('sha256')
      .update(JSON.stringify([interruptIds, answer!.value]))
      .digest('hex');
    const messageId = `${key}:${hash.slice(0, 16)}`;
    try {
      await client.send({ messageId, parts: toAnswerParts(memo, answer!), taskId, contextId }, signal);
    } catch (error) {
      if (!(error instanceof RemoteAgentError && error.isTooLate)) throw error;
    }
  }

  private async ended({ client, context, budget }: RemoteCall, first: RemoteTask): Promise<Outcome> {
    let task = first;
    for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * GROWTH, this.world.pollMs)) {
      budget.report(task.usage);
      switch (task.state) {
        case 'completed':
          return task.result;
        case 'failed':
        case 'rejected':
        case 'canceled': {
          const why = task.text === '' ? '' : `: ${task.text}`;
          throw new AppError(
            'TOOL_EXECUTION_FAILED',
            `Remote agent "${this.agent.name}": the task was ${PAST[task.state]}${why}`,
          );
        }
        case 'input-required':
          return suspend(toQuestion(this.agent.name, task));
        case 'working':
          await delay(pause, undefined, { signal: context.signal });
          task = await this.again(client, task, context.signal);
      }
    }
  }

  /** A lost connection does not end the call: the next look may succeed. */
  private async again(client: RemoteAgentClient, task: RemoteTask, signal: AbortSignal): Promise<RemoteTask> {
    try {
      return await client.get(task.id, signal);
    } catch (error) {
      if (signal.aborted || !isTransient(error)) throw error;
      this.logger.debug(`Remote agent "${this.agent.name}": task ${task.id} cannot be read: ${messageOf(error)}`);
      return task;
    }
  }

  private cancel(client: RemoteAgentClient, taskId: string): void {
    client.cancel(taskId, AbortSignal.timeout(CANCEL_MS)).catch((error: unknown) => {
      // The task had ended.
      if (error instanceof RemoteAgentError && error.rpcCode !== null) return;
      this.logger.warn(`Failed to cancel task ${taskId} of remote agent "${this.agent.name}": ${messageOf(error)}`);
    });
  }
}

const PAST = { failed: 'not completed', rejected: 'rejected', canceled: 'cancelled' } as const;

function isTransient(error: unknown): boolean {
  return error instanceof AppError && error.isRetryable;
}

function memoOf({ answer }: ToolContext): RemoteMemo | undefined {
  return answer?.memo as unknown as RemoteMemo | undefined;
}

async function readNote(context: ToolContext): Promise<Note | undefined> {
  return (await noteOf(context)?.read()) as Note | undefined;
}
