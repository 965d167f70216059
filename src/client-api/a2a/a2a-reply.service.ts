import { Injectable } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { EventStreamService, markReplay } from '../../api/index.js';
import { AppError, Log } from '../../errors/index.js';
import { type A2aFault, toFault } from './a2a.error.js';
import type { A2aReply } from './a2a.service.js';
import type { StreamResponse } from './a2a.types.js';

/** The form of replies in a binding. */
export interface ReplyForm {
  readonly contentType: string;
  result(result: object): object;
  frame(response: StreamResponse): object;
  /** A server-sent event with an error, which ends a stream. */
  errorFrame(fault: A2aFault): string;
  error(fault: A2aFault): object;
  /** HTTP status of an error. */
  statusOf(fault: A2aFault): number;
}

/** Sends the replies of A2A in the form of a binding. */
@Injectable()
export class A2aReplyService {
  private readonly logger = new Log(A2aReplyService.name);

  constructor(private readonly streams: EventStreamService) {}

  /** Sends the reply of an operation, or its error. */
  async send(
    reply: FastifyReply,
    form: ReplyForm,
    perform: () => Promise<A2aReply>,
    signal: AbortSignal,
  ): Promise<void> {
    let done: A2aReply;
    try {
      done = await perform();
    } catch (error) {
      return this.fail(reply, form, error);
    }
    if (done.kind === 'stream') return this.stream(reply, form, done, signal);
    if (done.isReplay) markReplay(reply, { kind: 'replayed' });
    await json(reply, form, 200).send(JSON.stringify(form.result(done.result)));
  }

  private async fail(reply: FastifyReply, form: ReplyForm, error: unknown): Promise<void> {
    const fault = this.logged(error);
    if (fault.retryAfterMs !== undefined) reply.header('retry-after', String(Math.ceil(fault.retryAfterMs / 1000)));
    await json(reply, form, form.statusOf(fault)).send(JSON.stringify(form.error(fault)));
  }

  private async stream(
    reply: FastifyReply,
    form: ReplyForm,
    { taskId, frames }: Extract<A2aReply, { kind: 'stream' }>,
    signal: AbortSignal,
  ): Promise<void> {
    const slow = toFault(
      new AppError('REQUEST_TIMEOUT', 'The client read the stream too slowly; subscribe to the task.'),
    );
    const about = { run_id: taskId };
    await this.streams.sendFrames(reply, about, this.frames(form, frames), signal, form.errorFrame(slow));
  }

  private async *frames(
    form: ReplyForm,
    responses: AsyncGenerator<StreamResponse, void>,
  ): AsyncGenerator<string, void> {
    try {
      for await (const response of responses) yield `data: ${JSON.stringify(form.frame(response))}\n\n`;
    } catch (error) {
      yield form.errorFrame(this.logged(error));
    }
  }

  private logged(error: unknown): A2aFault {
    const fault = toFault(error);
    if (fault.status === 500) this.logger.error({ err: error }, 'A2A operation failed');
    return fault;
  }
}

function json(reply: FastifyReply, { contentType }: ReplyForm, status: number): FastifyReply {
  return reply.status(status).header('content-type', contentType);
}
