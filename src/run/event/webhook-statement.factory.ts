import type { Statement } from '../../persistence/statement/index.js';
import type { RunEvent } from './run-event.types.js';
import type { RunItem } from './run-item.factory.js';

/** The run events that webhooks publish. */
export const WEBHOOK_EVENTS = ['run.waiting', 'run.completed', 'run.failed', 'run.cancelled'] as const;
export type WebhookEvent = (typeof WEBHOOK_EVENTS)[number];

/**
 * Runs of agents that a run called publish nothing: their caller does. `CROSS JOIN` makes SQLite read the webhooks first,
 * so that without any it reads no run.
 */
const ENQUEUE = `INSERT INTO webhook_delivery (webhook_id, run_id, n, tenant, type, status, attempts, created_at, due_at)
  SELECT w.id, r.id, ?, r.tenant, ?, 'pending', 0, ?, ? FROM webhook w CROSS JOIN run r
  WHERE r.id = ? AND r.parent_run_id IS NULL AND w.is_active = 1 AND (w.tenant = '' OR w.tenant = r.tenant)
    AND (w.agent IS NULL OR w.agent = r.agent) AND w.events LIKE ?`;

/**
 * Enqueues the deliveries of events in the batch that stores them: a delivery exists if and only if its event does.
 * @param items journaled items
 */
export function enqueueWebhooks(runId: string, items: readonly RunItem[]): Statement[] {
  return items.flatMap(({ n, at, event }) =>
    isPublished(event) ? { sql: ENQUEUE, params: [n, event.type, at, at, runId, `%"${event.type}"%`] } : [],
  );
}

function isPublished({ type }: RunEvent): boolean {
  return (WEBHOOK_EVENTS as readonly string[]).includes(type);
}
