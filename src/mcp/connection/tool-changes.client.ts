import type { Client } from '@modelcontextprotocol/client';
import { setTimeout as pause } from 'node:timers/promises';
import { RetryDelay } from './retry-delay.policy.js';

/** Of JSON-RPC: who does not know the method will not know it later. */
const METHOD_NOT_FOUND = -32_601;

/**
 * Keeps the stream open on which a server of 2026 tells that its tools have changed. The SDK opens it once, and over HTTP
 * it ends sooner or later; what would have been told meanwhile is lost, so that they count as changed when it is open again.
 * @param changed hears that they may have changed, beside what the SDK tells
 * @param signal is aborted when the connection has ended, and its streams with it
 */
export async function keepHearing(client: Client, changed: () => void, signal: AbortSignal): Promise<void> {
  if (client.getProtocolEra() !== 'modern' || !client.getServerCapabilities()?.tools?.listChanged) return;
  const delay = new RetryDelay();
  let subscription = client.autoOpenedSubscription;
  while (!signal.aborted) {
    const since = performance.now();
    await subscription?.closed;
    const lasted = subscription ? performance.now() - since : 0;
    try {
      await pause(delay.next(lasted), undefined, { signal, ref: false });
      subscription = await client.listen({ toolsListChanged: true });
      changed();
    } catch (error) {
      if ((error as { code?: unknown }).code === METHOD_NOT_FOUND) return;
      subscription = undefined;
    }
  }
}
