import { AppError } from './common/index.js';
import { toErrorCode } from './agent/index.js';
import type { RunEvent, RunItem } from './run/index.js';

/**
 * The text of what a run tells, in pieces as they come.
 * @throws AppError with the failure's code when it fails, `RUN_WAITING` when a person must decide
 */
export async function* textOf(items: AsyncIterable<RunItem>): AsyncGenerator<string, void> {
  let hasTold = false;
  for await (const { event } of items) {
    assertGoesOn(event);
    if (event.type === 'message.delta' || event.type === 'step.restarted') {
      hasTold = event.type === 'message.delta' || event.text !== '';
      if (event.text !== '') yield event.text;
    }
    if (event.type !== 'message.completed') continue;
    // Not every model streams, and a reply that was kept comes whole.
    if (!hasTold && event.tool_calls.length === 0 && event.text !== '') yield event.text;
    hasTold = false;
  }
}

function assertGoesOn(event: RunEvent): void {
  if (event.type === 'run.failed') {
    const { code, message, is_retryable, details } = event.error;
    throw new AppError(toErrorCode(code), message, {
      isRetryable: is_retryable,
      details: { ...details, run_id: event.run_id },
    });
  }
  if (event.type === 'run.waiting') {
    const message = `The run waits for a person (${event.reason}): decide on run ${event.run_id}, it goes on then.`;
    throw new AppError('RUN_WAITING', message, { details: { run_id: event.run_id, waiting: event.requests } });
  }
}
