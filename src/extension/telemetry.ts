import type { RunEvent, RunNotice, RunNoticeListener } from '../run/index.js';

type UsageReported = Extract<RunEvent, { readonly type: 'usage' }>;

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
export type UsageMeasured = Measured & Omit<UsageReported, 'type' | 'iteration'>;

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
  /** A model call has ended an iteration's first part; called before its tools run. */
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
  return async ({ runId, sessionId, tenant, agent, at, event }) => {
    if (!('iteration' in event) || event.iteration === undefined) return;
    const measured = { runId, sessionId, tenant, agent, at, iteration: event.iteration };
    switch (event.type) {
      case 'message.completed':
        await telemetry.recordIteration?.(measured);
        await telemetry.recordModelCall?.({
          ...measured,
          durationMs: event.execution_time_ms ?? 0,
          finishReason: event.finish_reason,
        });
        return;
      case 'usage': {
        const { type: _type, ...usage } = event;
        await telemetry.recordUsage?.({ ...measured, ...usage });
        return;
      }
      case 'tool.completed':
        await telemetry.recordToolCall?.({
          ...measured,
          tool: event.tool,
          durationMs: event.execution_time_ms,
          isSuccess: event.success,
          ...(event.code !== undefined && { code: event.code }),
        });
        return;
    }
  };
}
