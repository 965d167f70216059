import { setTimeout as pause } from 'node:timers/promises';
import { HttpException } from '@nestjs/common';
import { AppError } from '../../common/index.js';
import { ToolRequest } from '../call/tool-request.factory.js';
import type { Tool, ToolContext } from '../tool.types.js';

/** The longest wait before the second call, in ms; it doubles with each. */
const FIRST_WAIT_MS = 100;
const LONGEST_WAIT_MS = 5000;
const BAD_REQUEST = 400;
const SERVER_ERROR = 500;

/** A tool that is called again when it failed, up to `retries` times, after a random wait that grows (full jitter). */
export function retryingTool(tool: Tool, retries: number): Tool {
  const invoke = async (input: unknown, context: ToolContext): Promise<unknown> => {
    for (let attempt = 0; ; attempt++) {
      try {
        return await tool.invoke(input, context);
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

/** Whether the same call may succeed next time: not when the call itself is what is wrong. */
function mayPass(error: unknown): boolean {
  if (error instanceof AppError) return error.isRetryable;
  if (!(error instanceof HttpException)) return true;
  const status = error.getStatus();
  return status < BAD_REQUEST || status >= SERVER_ERROR || status === 408 || status === 429;
}
