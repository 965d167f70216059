import { Injectable } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { AgentService } from '../../agent/index.js';
import { disconnectSignal, EventStreamService, markReplay } from '../../api/index.js';
import { AppError, Log, toProblem } from '../../errors/index.js';
import type { Principal } from '../../kernel/index.js';
import type { RunItem } from '../../run/event/index.js';
import { ClientWatchService } from '../client-watch.service.js';
import { AgUiEventMapper } from './ag-ui-event.mapper.js';
import type { AgUiEvent } from './ag-ui-event.types.js';
import { parseAgUiInput, toKnownMessages } from './ag-ui-input.mapper.js';
import { type AgUiOpenedRun, AgUiRunService } from './ag-ui-run.service.js';
import { RunWatchService } from '../interrupts/run-watch.service.js';

/** A request as it arrives. */
export interface ReceivedRequest {
  readonly agent: string;
  readonly body: unknown;
  readonly idempotencyKey: string | undefined;
}

const SLOW_READER: AgUiEvent = {
  type: 'RUN_ERROR',
  message: 'The client read the stream too slowly.',
  code: 'SLOW_READER',
};

/** Streams runs in the format of AG-UI. */
@Injectable()
export class AgUiService {
  private readonly logger = new Log(AgUiService.name);

  constructor(
    private readonly clients: AgUiRunService,
    private readonly watches: RunWatchService,
    private readonly agents: AgentService,
    private readonly watch: ClientWatchService,
    private readonly streams: EventStreamService,
  ) {}

  /** Streams the run of a request. The run is cancelled when the client disconnects before its end. */
  async answer(
    principal: Principal,
    { agent, body, idempotencyKey }: ReceivedRequest,
    reply: FastifyReply,
  ): Promise<void> {
    const input = parseAgUiInput(body);
    const signal = disconnectSignal(reply);
    const run = await this.clients.open(principal, { agent, input, idempotencyKey }, signal);
    if (run.kind !== 'resumed') markReplay(reply, { kind: run.kind });
    reply.header('x-run-id', run.id);
    const mapper = new AgUiEventMapper({ runId: run.id, input, messages: toKnownMessages(input) });
    const isRepeatable = idempotencyKey !== undefined;
    const cancel = () => {
      if (!mapper.isOver && !isRepeatable) this.watch.cancel(principal, run.id);
    };
    signal.addEventListener('abort', cancel, { once: true });
    if (signal.aborted) cancel();
    const frames = this.frames(principal, run, mapper, signal);
    await this.streams.sendFrames(reply, { run_id: run.id }, frames, signal, frame(SLOW_READER));
  }

  private async *frames(
    principal: Principal,
    run: AgUiOpenedRun,
    mapper: AgUiEventMapper,
    signal: AbortSignal,
  ): AsyncGenerator<string, void> {
    let isRead = false;
    try {
      yield mapper.start().map(frame).join('');
      isRead = true;
      for await (const events of this.events(principal, run, mapper, signal))
        if (events.length > 0) yield events.map(frame).join('');
      if (!mapper.isOver && !signal.aborted)
        throw new AppError('SHUTTING_DOWN', `The events of run "${run.id}" ended before the run.`);
    } catch (error) {
      const { code, detail, status } = toProblem(error);
      if (status === 500) this.logger.error({ err: error, run_id: run.id }, 'AG-UI stream failed');
      yield mapper.fail(code, detail).map(frame).join('');
    } finally {
      if (!isRead) await unsubscribe(run.items);
    }
  }

  private async *events(
    principal: Principal,
    run: AgUiOpenedRun,
    mapper: AgUiEventMapper,
    signal: AbortSignal,
  ): AsyncGenerator<AgUiEvent[], void> {
    await this.learn(run, mapper);
    for await (const { event, wait } of this.watches.events(principal, run, signal)) {
      yield mapper.take(event, wait);
      if (mapper.isOver) return;
    }
  }

  /** The client has the events before, from earlier responses. */
  private async learn({ id, after }: AgUiOpenedRun, mapper: AgUiEventMapper): Promise<void> {
    if (after === 0) return;
    for await (const { event, n } of this.agents.recorded(id)) {
      if ((n ?? 0) > after) return;
      mapper.learn(event);
    }
  }
}

function frame(event: AgUiEvent): string {
  return `data: ${JSON.stringify(event)}\n\n`;
}

/** Items are subscribed to before their first read, and only a read can end that. The signal is aborted. */
async function unsubscribe(items: AsyncGenerator<RunItem, void>): Promise<void> {
  await items.next();
  await items.return();
}
