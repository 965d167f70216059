import type { RunEvent, WebhookEvent } from '../run/event/index.js';
import type { WebhookDelivery } from './webhook-delivery.store.js';

/** An event that webhooks publish. */
export type PublishedEvent = Extract<RunEvent, { readonly type: WebhookEvent }>;

/** The columns of a run that a request contains. */
export interface PublishedRun {
  readonly agent: string;
  readonly session_id: string | null;
  readonly principal_id: string | null;
}

/** The body of a request, in the format of Standard Webhooks; equal in all attempts. */
export interface WebhookPayload {
  readonly type: string;
  /** Time of the event, ISO 8601. */
  readonly timestamp: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** @param event undefined if the journal of the run was deleted */
export function toPayload(
  delivery: Pick<WebhookDelivery, 'type' | 'createdAt' | 'runId' | 'tenant'>,
  run: PublishedRun,
  event: PublishedEvent | undefined,
  hasContent: boolean,
): WebhookPayload {
  const { type, createdAt, runId, tenant } = delivery;
  const about = {
    run_id: runId,
    tenant,
    agent: run.agent,
    session_id: run.session_id,
    principal_id: run.principal_id,
    status: type.slice('run.'.length),
  };
  const facts = event ? { ...factsOf(event), ...(hasContent && contentOf(event)) } : {};
  return { type, timestamp: new Date(createdAt).toISOString(), data: { ...about, ...facts } };
}

/** Facts of an event without texts of users, models and tools. */
function factsOf(event: PublishedEvent): Record<string, unknown> {
  switch (event.type) {
    case 'run.waiting':
      return {
        reason: event.reason,
        requests: event.requests.map(({ id, kind, tool, child_run_id, expires_at }) => ({
          id,
          kind,
          tool,
          ...(child_run_id !== undefined && { child_run_id }),
          expires_at,
        })),
      };
    case 'run.completed':
    case 'run.failed':
    case 'run.cancelled': {
      const { finish_reason, is_complete, iterations, usage, model } = event;
      const error = event.type === 'run.failed' && {
        error: { code: event.error.code, is_retryable: event.error.is_retryable },
      };
      return { finish_reason, is_complete, iterations, usage, model, ...error };
    }
  }
}

function contentOf(event: PublishedEvent): Record<string, unknown> {
  switch (event.type) {
    case 'run.waiting':
      return { requests: event.requests };
    case 'run.completed':
    case 'run.cancelled':
      return resultOf(event);
    case 'run.failed':
      return { ...resultOf(event), error: event.error };
  }
}

function resultOf({ result, output }: { readonly result: string; readonly output?: unknown }): Record<string, unknown> {
  return { result, ...(output !== undefined && { output }) };
}
