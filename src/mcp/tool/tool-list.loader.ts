import type { Tool as McpTool } from '@modelcontextprotocol/client';
import type { OpenedClient } from '../connection/opened-client.factory.js';

const LIST_TIMEOUT_MS = 30_000;
/** Maximum number of tools of a server. */
const MAX_TOOLS = 1000;
const MAX_LIST_BYTES = 4 * 1024 * 1024;

/** Reads all pages of a server's tool list. @throws Error if it has too many tools or bytes, or takes too long */
export async function listTools({ client, listenTo }: OpenedClient, signal: AbortSignal): Promise<readonly McpTool[]> {
  // Without this check, the SDK logs to standard output, which can be the transport of our own protocol.
  if (!client.getServerCapabilities()?.tools) return [];
  const limit = new AbortController();
  let received = 0;
  listenTo((bytes) => {
    received += bytes;
    if (received > MAX_LIST_BYTES) limit.abort(new Error(`its list of tools is longer than ${MAX_LIST_BYTES} bytes`));
  });
  const timer = setTimeout(
    () => limit.abort(new Error(`it did not list its tools within ${LIST_TIMEOUT_MS} ms`)),
    LIST_TIMEOUT_MS,
  );
  try {
    const { tools } = await client.listTools(undefined, {
      timeout: LIST_TIMEOUT_MS,
      maxTotalTimeout: LIST_TIMEOUT_MS,
      signal: AbortSignal.any([signal, limit.signal]),
      cacheMode: 'refresh',
    });
    if (tools.length > MAX_TOOLS)
      throw new Error(`it has ${tools.length} tools, more than the maximum of ${MAX_TOOLS}`);
    return tools;
  } catch (error) {
    limit.signal.throwIfAborted();
    throw error;
  } finally {
    clearTimeout(timer);
    listenTo(null);
  }
}
