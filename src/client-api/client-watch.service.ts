import { Injectable } from '@nestjs/common';
import type { z } from 'zod';
import { AppError, Log, toOpenAiError, toProblem } from '../errors/index.js';
import { isDoneWithin, issueMistakes, type Principal } from '../kernel/index.js';
import { type RunEvent, RunService } from '../run/index.js';
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

/** @throws AppError `VALIDATION_FAILED` with the mistakes */
export function parsedBy<T>(schema: z.ZodType<T>, body: unknown): T {
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  const errors = issueMistakes(parsed.error.issues, body, '');
  const detail = errors.map(({ field, message }) => `${field}: ${message}`).join('; ');
  throw new AppError('VALIDATION_FAILED', `The request is not valid: ${detail}.`, { details: { errors } });
}

/** Time for which a stream waits for its first frame, in ms: an error within it has its own HTTP status. */
const FIRST_FRAME_MS = 10_000;

/** A server-sent event in wire format. */
export function toFrame(data: object, event?: string): string {
  return `${event === undefined ? '' : `event: ${event}\n`}data: ${JSON.stringify(data)}\n\n`;
}

/**
 * Waits for the first frame, so that an early error has its own status. A later one is the last frame: clients throw it as
 * an error of the API.
 * @param toErrorFrame the last frame in the format of the client; default: OpenAI's
 * @throws the error of the first frame
 */
export async function begun(
  frames: AsyncGenerator<string, void>,
  toErrorFrame: (error: unknown) => string = openAiErrorFrame,
): Promise<AsyncGenerator<string, void>> {
  const first = frames.next();
  const settled = first.then(
    () => undefined,
    () => undefined,
  );
  if (await isDoneWithin(FIRST_FRAME_MS, settled)) await first;
  return startingWith(first, frames, toErrorFrame);
}

async function* startingWith(
  first: Promise<IteratorResult<string, void>>,
  frames: AsyncGenerator<string, void>,
  toErrorFrame: (error: unknown) => string,
): AsyncGenerator<string, void> {
  try {
    const { value, done } = await first;
    if (!done) yield value;
    yield* frames;
  } catch (error) {
    yield toErrorFrame(error);
  }
}

function openAiErrorFrame(error: unknown): string {
  return toFrame(toOpenAiError(toProblem(error)));
}
