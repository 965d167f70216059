import { setTimeout as pause } from 'node:timers/promises';
import { HttpException } from '@nestjs/common';
import type { Cache } from '../../cache/index.js';
import { AppError } from '../../errors/index.js';
import { Semaphore } from '../../kernel/index.js';
import { isTransientStatus, readReturned } from '../call/returned-value.js';
import { ToolRequest } from '../call/tool-request.factory.js';
import type { Tool, ToolContext } from '../tool.types.js';
import { cachedTool } from './cached-tool.wrapper.js';

/** Maximum delay before the first retry, in ms; it doubles with each retry. */
const FIRST_WAIT_MS = 100;
const LONGEST_WAIT_MS = 5000;
const BAD_REQUEST = 400;

/**
 * Retries failed calls up to `retries` times, with exponential backoff and full jitter. A returned response or stream is
 * read inside, since its status or its body may fail, too.
 */
export function retryingTool(tool: Tool, retries: number): Tool {
  const invoke = async (input: unknown, context: ToolContext): Promise<unknown> => {
    for (let attempt = 0; ; attempt++) {
      try {
        return await readReturned(tool.invoke(input, context), context.signal);
      } catch (error) {
        if (attempt >= retries || context.signal.aborted || !mayPass(error)) throw error;
        const longest = Math.min(FIRST_WAIT_MS * 2 ** attempt, LONGEST_WAIT_MS);
        if (context instanceof ToolRequest) context.state?.reset();
        await pause(Math.random() * longest, undefined, { signal: context.signal });
      }
    }
  };
  return { ...tool, invoke };
}

/** Whether a retry may succeed; false if the call itself is invalid. */
function mayPass(error: unknown): boolean {
  if (error instanceof AppError) return error.isRetryable;
  if (!(error instanceof HttpException)) return true;
  const status = error.getStatus();
  return status < BAD_REQUEST || isTransientStatus(status);
}

/**
 * Wraps a tool according to its metadata, from the inside out: concurrency limit, retries, cache. Without any of them
 * the tool itself is returned.
 * @param secrets values to mask in cached errors
 */
export function wrapTool(tool: Tool, cache: Cache, secrets: readonly string[]): Tool {
  const { concurrency, retries, cacheTtlMs } = tool.metadata;
  const limited = concurrency === undefined ? tool : { ...tool, places: new Semaphore(concurrency) };
  const retrying = retries ? retryingTool(limited, retries) : limited;
  return cacheTtlMs === undefined ? retrying : cachedTool(retrying, cacheTtlMs, cache, secrets);
}
