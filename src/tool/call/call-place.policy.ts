import { AppError } from '../../errors/index.js';
import { type Semaphore } from '../../kernel/index.js';
import type { Tool, ToolResult } from '../tool.types.js';

/** Default maximum wait of a call for its turn, in ms. */
const QUEUE_TIMEOUT_MS = 300_000;

/** A concurrency slot of a tool with `concurrency`; for other tools a slot without a limit. */
export class CallPlace {
  private isInUse = false;

  /** @param recalled the cached result of the call, which needs no slot */
  constructor(
    private readonly places?: Semaphore,
    readonly recalled?: { readonly value: unknown },
  ) {}

  /** Whether the tool's own code was started. */
  get isStarted(): boolean {
    return this.isInUse;
  }

  /** Runs the tool's code. The slot is released when that code ends, even after its caller has abandoned it. */
  run(code: () => unknown): unknown {
    this.isInUse = true;
    let isPending = false;
    try {
      const returned = code();
      isPending = isThenable(returned);
      return isPending ? this.leaveAfter(returned as PromiseLike<unknown>) : returned;
    } finally {
      if (!isPending) this.places?.leave();
    }
  }

  /** Releases the slot if the tool's code was not started. Call it once. */
  close(): void {
    if (!this.isInUse) this.places?.leave();
  }

  /** `await` instead of `then`: the stack of an error in the code includes the frames of its caller. */
  private async leaveAfter(pending: PromiseLike<unknown>): Promise<unknown> {
    try {
      return await pending;
    } finally {
      this.places?.leave();
    }
  }
}

/** The slot of a call, or the result of a call that does not start. */
export type Admission = { readonly place: CallPlace } | { readonly result: ToolResult };

/** Maximum wait of a call for its turn, in ms. */
export function queueTimeoutOf(tool: Tool | undefined): number {
  return tool?.metadata.queueTimeoutMs ?? QUEUE_TIMEOUT_MS;
}

/**
 * Waits for a concurrency slot of the tool.
 * @param mayWaitMs maximum wait, in ms; 0 or less rejects immediately
 * @throws AppError `TOOL_TIMEOUT` after that time; the signal's reason if the signal is aborted
 */
export async function enterPlace(
  tool: Tool,
  signal: AbortSignal,
  mayWaitMs = queueTimeoutOf(tool),
): Promise<CallPlace> {
  signal.throwIfAborted();
  const { places } = tool;
  if (mayWaitMs <= 0) throw queueTimeout(tool);
  if (!places || places.tryEnter()) return new CallPlace(places);
  const clock = new AbortController();
  const timer = setTimeout(() => clock.abort(queueTimeout(tool)), mayWaitMs);
  try {
    await places.enter(AbortSignal.any([signal, clock.signal]));
  } finally {
    clearTimeout(timer);
  }
  return new CallPlace(places);
}

/** Whether a call exceeded its maximum wait. */
export function isQueueTimeout(error: unknown): error is QueueTimeout {
  return error instanceof QueueTimeout;
}

class QueueTimeout extends AppError {}

function queueTimeout(tool: Tool): AppError {
  const waited = `the call did not start within ${queueTimeoutOf(tool)} ms (\`queueTimeoutMs\`)`;
  return new QueueTimeout('TOOL_TIMEOUT', `Not executed: ${waited}, because earlier calls have not ended.`);
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
}
