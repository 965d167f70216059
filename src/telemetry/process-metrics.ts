import { type EventLoopUtilization, monitorEventLoopDelay, performance } from 'node:perf_hooks';
import { VERSION } from '../kernel/index.js';
import type { Sample } from './metric.registry.js';

const RESOLUTION_MS = 10;
const NS = 1e9;

/** CPU, memory and event loop of this process. The monitor of the event loop starts with the first scrape. */
export class ProcessMetrics {
  private delay: ReturnType<typeof monitorEventLoopDelay> | undefined;
  private before: EventLoopUtilization | undefined;

  /** Values since the last call: two scrapers share the time between them. */
  read(): Sample[] {
    const { user, system } = process.cpuUsage();
    const { rss, heapTotal, heapUsed, external } = process.memoryUsage();
    return [
      ...this.eventLoop(),
      ['jackdaw_info', 1, { version: VERSION }],
      ['nodejs_version_info', 1, { version: process.version }],
      ['nodejs_heap_size_total_bytes', heapTotal],
      ['nodejs_heap_size_used_bytes', heapUsed],
      ['nodejs_external_memory_bytes', external],
      ['process_cpu_seconds_total', (user + system) / 1e6],
      ['process_resident_memory_bytes', rss],
      ['process_start_time_seconds', performance.timeOrigin / 1000],
    ];
  }

  close(): void {
    this.delay?.disable();
  }

  private eventLoop(): Sample[] {
    const { before } = this;
    this.before = performance.eventLoopUtilization();
    const utilization = before ? performance.eventLoopUtilization(this.before, before).utilization : 0;
    return [['nodejs_eventloop_utilization', utilization], ...this.delays()];
  }

  private delays(): Sample[] {
    if (!this.delay) {
      this.delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
      this.delay.enable();
    }
    const { delay } = this;
    const isEmpty = delay.count === 0;
    // The monitor counts its own interval as part of a delay.
    const seconds = (ns: number) => (isEmpty ? 0 : Math.max(ns / NS - RESOLUTION_MS / 1000, 0));
    const samples: Sample[] = [
      ['nodejs_eventloop_lag_mean_seconds', seconds(delay.mean)],
      ['nodejs_eventloop_lag_p50_seconds', seconds(delay.percentile(50))],
      ['nodejs_eventloop_lag_p99_seconds', seconds(delay.percentile(99))],
      ['nodejs_eventloop_lag_max_seconds', seconds(delay.max)],
    ];
    delay.reset();
    return samples;
  }
}
