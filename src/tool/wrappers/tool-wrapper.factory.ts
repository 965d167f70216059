import { Semaphore } from '../../common/index.js';
import type { Cache } from '../../cache/index.js';
import type { Tool } from '../tool.types.js';
import { cachedTool } from './cached-tool.wrapper.js';
import { retryingTool } from './retrying-tool.wrapper.js';

/**
 * A tool as its metadata wants it called, from the inside out: so many at once, again when it fails, from the cache
 * when it was called before. A tool that wants nothing of this is given back as it is.
 */
export function wrapTool(tool: Tool, cache: Cache): Tool {
  const { concurrency, retries, cacheTtlMs } = tool.metadata;
  const limited = concurrency === undefined ? tool : { ...tool, places: new Semaphore(concurrency) };
  const retrying = retries ? retryingTool(limited, retries) : limited;
  return cacheTtlMs === undefined ? retrying : cachedTool(retrying, cacheTtlMs, cache);
}
