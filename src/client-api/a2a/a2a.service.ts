import { Injectable } from '@nestjs/common';
import { AgentService } from '../../agent/index.js';
import { AppError } from '../../errors/index.js';
import type { Principal } from '../../kernel/index.js';
import { RunService } from '../../run/index.js';
import { hasScope, type Scope } from '../../security/index.js';
import { parsedBy } from '../client-request.parser.js';
import { RunWatchService } from '../interrupts/run-watch.service.js';
import { A2aError } from './a2a.error.js';
import { A2aMessageService, type SentMessage } from './a2a-message.service.js';
import { listTasksSchema, type SendMessage, sendMessageSchema, taskSchema } from './a2a-request.schema.js';
import { A2aTaskService } from './a2a-task.service.js';
import type { StreamResponse } from './a2a.types.js';
import { TaskBuilder } from './task.builder.js';

/** An operation of the protocol, independent of its binding. */
export interface A2aCall {
  readonly principal: Principal;
  /** Name of the agent in the path. */
  readonly agent: string;
  /** As in JSON-RPC: `SendMessage`. */
  readonly method: string;
  readonly params: unknown;
}

export type A2aReply =
  | { readonly kind: 'result'; readonly result: object; readonly isReplay?: boolean }
  /** The first frame is there: an error before it has a reply of its own. */
  | { readonly kind: 'stream'; readonly taskId: string; readonly frames: AsyncGenerator<StreamResponse, void> };

const SCOPES: ReadonlyMap<string, Scope> = new Map([
  ['SendMessage', 'chat'],
  ['SendStreamingMessage', 'chat'],
  ['GetTask', 'runs:read'],
  ['ListTasks', 'runs:read'],
  ['SubscribeToTask', 'runs:read'],
  ['CancelTask', 'runs:write'],
]);

/** The operations of A2A on the agents of this server: a task is a run, a context a session. */
@Injectable()
export class A2aService {
  constructor(
    private readonly messages: A2aMessageService,
    private readonly tasks: A2aTaskService,
    private readonly watches: RunWatchService,
    private readonly agents: AgentService,
    private readonly runs: RunService,
  ) {}

  /**
   * Performs an operation. The task continues when the client leaves.
   * @param signal ends the wait and the frames, not the run
   * @throws A2aError, AppError
   */
  async perform(call: A2aCall, signal: AbortSignal): Promise<A2aReply> {
    const { principal, agent, method, params } = call;
    assertScope(principal, method);
    switch (method) {
      case 'SendMessage':
        return this.send(call, parsedBy(sendMessageSchema, params), signal);
      case 'SendStreamingMessage':
        return this.stream(call, parsedBy(sendMessageSchema, params), signal);
      case 'GetTask': {
        const { id, historyLength } = parsedBy(taskSchema, params);
        return { kind: 'result', result: await this.tasks.get(principal, agent, id, { historyLength }) };
      }
      case 'ListTasks':
        return { kind: 'result', result: await this.tasks.list(principal, agent, parsedBy(listTasksSchema, params)) };
      case 'CancelTask':
        return {
          kind: 'result',
          result: await this.tasks.cancel(principal, agent, parsedBy(taskSchema, params).id),
        };
      case 'SubscribeToTask':
        return this.subscribe(call, parsedBy(taskSchema, params).id, signal);
      case 'GetExtendedAgentCard':
        throw new A2aError('UNSUPPORTED_OPERATION', 'There is no extended agent card: the public one is complete.');
      case 'CreateTaskPushNotificationConfig':
      case 'GetTaskPushNotificationConfig':
      case 'ListTaskPushNotificationConfigs':
      case 'DeleteTaskPushNotificationConfig':
        throw new A2aError(
          'PUSH_NOTIFICATION_NOT_SUPPORTED',
          'Push notifications are not supported: subscribe to the task.',
        );
      default:
        throw new A2aError('METHOD_NOT_FOUND', `There is no method "${method.slice(0, 100)}" in this version of A2A.`);
    }
  }

  /** Waits until the task ends or waits for the client, unless the client does not want to. */
  private async send(call: A2aCall, request: SendMessage, signal: AbortSignal): Promise<A2aReply> {
    const { principal, agent } = call;
    const { historyLength, returnImmediately = false } = request.configuration ?? {};
    const enough = new AbortController();
    const until = AbortSignal.any([signal, enough.signal]);
    const sent = await this.messages.send(principal, agent, request, until);
    // The items are subscribed to, and only a read ends that.
    if (returnImmediately) enough.abort();
    await this.settled(principal, sent, until);
    const task = await this.tasks.get(principal, agent, sent.id, { historyLength });
    return { kind: 'result', result: { task }, isReplay: sent.isReplay };
  }

  private async settled(principal: Principal, sent: SentMessage, signal: AbortSignal): Promise<void> {
    for await (const { event } of this.watches.events(principal, sent, signal)) {
      // A run behind another one of its session stays queued; the task says so.
      if (event.type !== 'stream.closed' || event.code === 'SESSION_BUSY') continue;
      throw new AppError('SHUTTING_DOWN', `Task "${sent.id}" continues later: get it by its id.`);
    }
  }

  private async stream(call: A2aCall, request: SendMessage, signal: AbortSignal): Promise<A2aReply> {
    const { principal, agent } = call;
    const sent = await this.messages.send(principal, agent, request, signal);
    const run = await this.runs.get(principal, sent.id);
    // The task so far comes first, then the updates after it.
    const builder = new TaskBuilder(run);
    if (sent.after > 0)
      for await (const item of this.agents.recorded(run.id)) if ((item.n ?? 0) <= sent.after) builder.take(item);
    const { historyLength } = request.configuration ?? {};
    const first: StreamResponse = { task: builder.toTask({ historyLength }) };
    return { kind: 'stream', taskId: run.id, frames: this.frames(first, { principal, builder, run: sent }, signal) };
  }

  /** Follows a task from its present state. A task that waits now is followed until it has resumed and waits again. */
  private async subscribe({ principal, agent }: A2aCall, id: string, signal: AbortSignal): Promise<A2aReply> {
    const run = await this.tasks.find(principal, agent, id);
    const { builder, n } = await this.tasks.read(principal, run);
    if (builder.isOver)
      throw new A2aError('UNSUPPORTED_OPERATION', `Task "${id}" has ended.`, { state: builder.state });
    const first: StreamResponse = { task: builder.toTask() };
    const isWaiting = builder.state === 'TASK_STATE_INPUT_REQUIRED';
    const items = isWaiting ? this.watches.resumed(id, n, signal) : this.agents.follow(id, n, signal);
    const frames = this.frames(first, { principal, builder, run: { id, items, after: n } }, signal);
    return { kind: 'stream', taskId: id, frames };
  }

  private async *frames(
    first: StreamResponse,
    { principal, builder, run }: FollowedTask,
    signal: AbortSignal,
  ): AsyncGenerator<StreamResponse, void> {
    yield first;
    for await (const event of this.watches.events(principal, run, signal)) {
      yield* builder.take(event);
      if (builder.isOver) return;
    }
  }
}

interface FollowedTask {
  readonly principal: Principal;
  readonly builder: TaskBuilder;
  readonly run: Omit<SentMessage, 'isReplay'>;
}

/** @throws AppError `FORBIDDEN` without the scope of the operation */
function assertScope(principal: Principal, method: string): void {
  const scope = SCOPES.get(method);
  if (scope === undefined || hasScope(principal, scope)) return;
  throw new AppError('FORBIDDEN', `${method} needs the scope "${scope}".`, { details: { scope } });
}
