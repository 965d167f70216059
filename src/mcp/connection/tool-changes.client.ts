import type { Client } from '@modelcontextprotocol/client';
import { setTimeout as pause } from 'node:timers/promises';

const FIRST_MS = 1000;
const LONGEST_MS = 60_000;
/** A connection of at least this duration resets the delay, in ms. */
const GOOD_MS = 30_000;

/** Delay before the next connection attempt: doubles each time, up to a minute. */
export class RetryDelay {
  private failures = 0;

  /**
   * @param lastedMs duration of the last connection; 0 if it failed
   * @param chance from 0 up to 1; spreads the attempts of many servers
   */
  next(lastedMs: number, chance = Math.random()): number {
    if (lastedMs > GOOD_MS) this.failures = 0;
    return Math.min(FIRST_MS * 2 ** this.failures++, LONGEST_MS) * (0.5 + chance / 2);
  }
}

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
