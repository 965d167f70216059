import type { RunEvent } from '../run/event/index.js';
import type { RunNotice, RunNoticeListener } from '../run/follow/index.js';

type EventOf<T extends RunEvent['type']> = Extract<RunEvent, { readonly type: T }>;

/** The run and the time of a measurement. */
export interface Measured extends Pick<RunNotice, 'runId' | 'sessionId' | 'tenant' | 'agent'> {
  /** Number of the iteration in its run, from 1. */
  readonly iteration: number;
  /** Time of the end, epoch ms. */
  readonly at: number;
}

export interface ModelCallMeasured extends Measured {
  /** Retries, fallbacks and the wait for a free slot included, in ms. */
  readonly durationMs: number;
  readonly finishReason: string;
}

/** Tokens of a model call, or of a tool's own model calls. */
export type UsageMeasured = Measured & Omit<EventOf<'usage'>, 'type' | 'iteration'>;

export interface ToolCallMeasured extends Measured {
  readonly tool: string;
  readonly durationMs: number;
  readonly isSuccess: boolean;
  /** The code of a failed, unknown, denied or limited call. */
  readonly code?: string;
}

/**
 * Receives measurements of all runs of an application, once they are durable. Override the methods of interest. Runs do
 * not wait for them; their errors are logged.
 */
export abstract class Telemetry {
  /** An iteration of the loop: its model call has ended, its tool calls follow. */
  recordIteration(_iteration: Measured): unknown {
    return undefined;
  }

  recordModelCall(_call: ModelCallMeasured): unknown {
    return undefined;
  }

  recordUsage(_usage: UsageMeasured): unknown {
    return undefined;
  }

  recordToolCall(_call: ToolCallMeasured): unknown {
    return undefined;
  }
}

/** The listener of run events that calls a telemetry's methods. */
export function toListener(telemetry: Partial<Telemetry>): RunNoticeListener {
  return async (notice) => {
    const { event } = notice;
    if (event.type === 'message.completed') await reportModelCall(telemetry, event, measured(notice, event.iteration));
    if (event.type === 'tool.completed') await reportToolCall(telemetry, event, measured(notice, event.iteration));
    if (event.type === 'usage') {
      const { type: _type, ...usage } = event;
      await telemetry.recordUsage?.({ ...measured(notice, event.iteration), ...usage });
    }
  };
}

function measured({ runId, sessionId, tenant, agent, at }: RunNotice, iteration: number): Measured {
  return { runId, sessionId, tenant, agent, at, iteration };
}

async function reportModelCall(
  telemetry: Partial<Telemetry>,
  { execution_time_ms: durationMs = 0, finish_reason: finishReason }: EventOf<'message.completed'>,
  of: Measured,
): Promise<void> {
  await telemetry.recordIteration?.(of);
  await telemetry.recordModelCall?.({ ...of, durationMs, finishReason });
}

async function reportToolCall(
  telemetry: Partial<Telemetry>,
  { tool, success: isSuccess, code, execution_time_ms: durationMs }: EventOf<'tool.completed'>,
  of: Measured,
): Promise<void> {
  await telemetry.recordToolCall?.({ ...of, tool, durationMs, isSuccess, ...(code !== undefined && { code }) });
}
