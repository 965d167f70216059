import { Injectable } from '@nestjs/common';
import { AppError, Log } from '../errors/index.js';
import { type Principal } from '../kernel/index.js';
import { RunService } from '../run/index.js';
import type { RunEvent } from '../run/event/index.js';
import { ToolRegistry } from '../tool/index.js';

/** What all protocols of clients do with the runs that they started. */
@Injectable()
export class ClientWatchService {
  private readonly logger = new Log(ClientWatchService.name);

  constructor(
    private readonly runs: RunService,
    private readonly tools: ToolRegistry,
  ) {}

  /** Passes the items on; a client that leaves before the last one cancels the run. */
  async *untilEnd<T>(
    principal: Principal,
    runId: string,
    items: AsyncIterable<T>,
    signal: AbortSignal,
  ): AsyncGenerator<T, void> {
    let isOver = false;
    const cancel = () => {
      if (!isOver) this.cancel(principal, runId);
    };
    signal.addEventListener('abort', cancel, { once: true });
    if (signal.aborted) cancel();
    try {
      yield* items;
    } finally {
      isOver = !signal.aborted;
      signal.removeEventListener('abort', cancel);
    }
  }

  /**
   * Whether the event starts an action that may change something, so that a repeated request could change it twice.
   * @param clientTools the tools that the client executes: it knows their effects itself
   */
  mayHaveEffect(event: RunEvent, clientTools: ReadonlySet<string>): boolean {
    if (event.type === 'node.started') return event.kind !== 'llm' && event.kind !== 'branch';
    if (event.type !== 'tool.started' || clientTools.has(event.tool)) return false;
    const tool = this.tools.list().find(({ definition }) => definition.name === event.tool);
    return tool?.metadata.effect !== 'read';
  }

  /** Cancels the run of a client that has left. */
  cancel(principal: Principal, runId: string): void {
    this.runs.cancel(principal, runId).catch((error: unknown) => {
      if (!(error instanceof AppError))
        this.logger.error({ err: error, run_id: runId }, 'Failed to cancel the run of a disconnected client');
    });
  }
}
