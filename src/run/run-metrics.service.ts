import { Injectable, type OnModuleInit } from '@nestjs/common';
import { MetricRegistry, type Sample } from '../telemetry/index.js';
import { RunCapacityRegistry } from './admission/run-capacity.registry.js';
import { RunLoadStore } from './admission/run-admission.service.js';
import { type ObservedRun, RunBus } from './follow/run-bus.js';
import {
  isTerminal,
  type ModelSwitched,
  type TerminalEvent,
  type ToolCompleted,
  type UsageReported,
} from './event/run-event.types.js';
import type { RunItem } from './event/run-item.factory.js';
import { RunExecutor } from './run.executor.js';

const MS = 1000;

/** Counts the runs that this process executes from their published events, and reads the load at each scrape. */
@Injectable()
export class RunMetrics implements OnModuleInit {
  constructor(
    private readonly metrics: MetricRegistry,
    private readonly bus: RunBus,
    private readonly executor: RunExecutor,
    private readonly capacity: RunCapacityRegistry,
    private readonly load: RunLoadStore,
  ) {}

  onModuleInit(): void {
    if (!this.metrics.isOn) return;
    this.bus.observe((run, item) => this.count(run, item));
    this.metrics.collect(() => [
      ['jackdaw_runs_active', this.executor.active],
      ['jackdaw_capacity_waiting', this.capacity.waiting],
    ]);
    this.metrics.collect(() => this.open());
  }

  private async open(): Promise<Sample[]> {
    const { queued, waiting, waitingSince } = await this.load.open();
    const oldestMs = waitingSince === null ? 0 : Math.max(Date.now() - waitingSince, 0);
    return [
      ['jackdaw_queue_depth', queued],
      ['jackdaw_runs_waiting', waiting],
      ['jackdaw_runs_waiting_oldest_seconds', oldestMs / MS],
    ];
  }

  private count({ agent, createdAt }: ObservedRun, { event, at }: RunItem): void {
    const { metrics } = this;
    if (event.type === 'message.delta') return;
    if (event.type === 'run.started') metrics.observe('jackdaw_queue_delay_seconds', Math.max(at - createdAt, 0) / MS);
    else if (event.type === 'usage') this.countUsage(event);
    else if (event.type === 'tool.completed') this.countCall(event);
    else if (event.type === 'model.switched') this.countFallback(event);
    else if (event.type === 'model.cached') metrics.count('jackdaw_model_cached_total');
    else if (isTerminal(event)) this.countEnd(agent, event);
  }

  private countEnd(agent: string, event: TerminalEvent): void {
    this.metrics.count('jackdaw_runs_total', { status: event.type.slice('run.'.length), agent });
    if (event.type === 'run.failed') this.metrics.count('jackdaw_run_failures_total', { code: event.error.code });
  }

  private countFallback({ from, to }: ModelSwitched): void {
    this.metrics.count('jackdaw_model_fallbacks_total', { from, to });
  }

  private countUsage({ model, prompt_tokens, completion_tokens, ...usage }: UsageReported): void {
    const { cached_tokens = 0, reasoning_tokens = 0, cost } = usage;
    const tokens = {
      input: prompt_tokens,
      output: completion_tokens,
      cached: cached_tokens,
      reasoning: reasoning_tokens,
    };
    for (const [kind, count] of Object.entries(tokens)) {
      if (count > 0) this.metrics.count('jackdaw_tokens_total', { kind, model }, count);
    }
    if (cost !== undefined) this.metrics.count('jackdaw_cost_total', { model }, cost);
  }

  private countCall({ tool, success, execution_time_ms }: ToolCompleted): void {
    this.metrics.observe('jackdaw_tool_duration_seconds', execution_time_ms / MS, { tool });
    if (!success) this.metrics.count('jackdaw_tool_errors_total', { tool });
  }
}
