import { Semaphore } from '../../kernel/index.js';
import type { Cache } from '../../cache/index.js';
import type { Tool } from '../tool.types.js';
import { cachedTool } from './cached-tool.wrapper.js';
import { retryingTool } from './retrying-tool.wrapper.js';

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
