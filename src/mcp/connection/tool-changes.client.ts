import type { Client } from '@modelcontextprotocol/client';
import { setTimeout as pause } from 'node:timers/promises';
import { RetryDelay } from './retry-delay.policy.js';

/** JSON-RPC: the server does not support the method. */
const METHOD_NOT_FOUND = -32_601;

/**
 * Keeps the stream open on which a server of 2026 reports tool changes. The SDK opens it only once, and over HTTP it
 * ends sooner or later. Changes in between are lost, so a reopened stream counts as a change.
 * @param changed called after each reopening, in addition to the SDK's own notifications
 * @param signal aborted when the connection and its streams have ended
 */
export async function keepListening(client: Client, changed: () => void, signal: AbortSignal): Promise<void> {
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
