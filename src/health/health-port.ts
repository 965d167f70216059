import { type OnApplicationShutdown, type OnModuleDestroy, ServiceUnavailableException } from '@nestjs/common';
import { once } from 'node:events';
import { Worker, type WorkerOptions } from 'node:worker_threads';
import { AppError, Log, messageOf } from '../errors/index.js';
import type { HealthPortData, HealthPortStart, HealthSignal, Readiness } from './health-port.executor.js';

const BEAT_MS = 250;
const CHECK_MS = 1_000;
/** Silence of the event loop after which the process is not alive, in ms. */
const SILENCE_MS = 10_000;
const MAX_HEAP_MB = 32;

/** The result of the last check from the start of a shutdown. */
const SHUTTING_DOWN = { server: { status: 'down', message: 'shutting down' } };

/**
 * Serves liveness and readiness on their own port, from a thread of its own: the main thread accepts one connection in
 * each turn of its event loop, so a probe would wait for seconds at saturation. The thread does not keep the process alive.
 */
export class HealthPort implements OnModuleDestroy, OnApplicationShutdown {
  private readonly logger = new Log('Health');
  private worker: Worker | undefined;
  private sink: (signal: HealthSignal) => void = () => undefined;
  private timers: readonly NodeJS.Timeout[] = [];
  private isChecking = false;
  private isDraining = false;
  /** The port, once it listens. */
  port: number | undefined;

  /**
   * @param readiness resolves with the response body of `health/ready`; throws `ServiceUnavailableException` if not ready
   * @param silenceMs silence of the event loop after which `health/live` is 503, and `health/ready` after half of it, in ms
   */
  constructor(
    private readonly readiness: () => Promise<object>,
    private readonly silenceMs = SILENCE_MS,
  ) {}

  /** @throws AppError `CONFIG_INVALID` if the port is not available */
  async listen({ port, host, prefix }: Pick<HealthPortData, 'port' | 'host' | 'prefix'>): Promise<void> {
    const data: HealthPortData = { port, host, prefix, silenceMs: this.silenceMs };
    const worker = startWorker({
      workerData: data,
      env: {},
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
    });
    this.worker = worker;
    try {
      const [start] = (await once(worker, 'message')) as [HealthPortStart];
      if (start.kind === 'failed') throw new Error(start.message);
      this.port = start.port;
    } catch (cause) {
      await worker.terminate();
      const message = `The health checks cannot be served on port ${port} of ${host} (HEALTH_PORT, HEALTH_HOST): ${messageOf(cause)}.`;
      throw new AppError('CONFIG_INVALID', message, { cause });
    }
    worker.on('error', (err) => this.logger.error({ err }, 'The health port failed; its probes fail until a restart'));
    worker.unref();
    this.logger.log(`Health checks at port ${this.port} of ${host}, without a key`);
    // The rule is for windows of a browser.
    // oxlint-disable-next-line unicorn/require-post-message-target-origin
    this.report((signal) => worker.postMessage(signal));
  }

  /** Sends a beat and the result of the readiness check again and again: each 250 ms, and each second. */
  report(sink: (signal: HealthSignal) => void): void {
    this.sink = sink;
    this.timers = [
      setInterval(() => this.sink('beat'), BEAT_MS).unref(),
      setInterval(() => void this.check(), CHECK_MS).unref(),
    ];
    void this.check();
  }

  /** From now on the server is not ready. */
  drain(): void {
    this.isDraining = true;
    const body = { status: 'error', info: {}, error: SHUTTING_DOWN, details: SHUTTING_DOWN };
    this.sink({ isReady: false, body });
  }

  /** A close without a signal. */
  onModuleDestroy(): void {
    this.drain();
  }

  /** After the end of the runs and of the other listener: liveness has an answer during a drain. */
  async onApplicationShutdown(): Promise<void> {
    for (const timer of this.timers) clearInterval(timer);
    await this.worker?.terminate();
  }

  /** One at a time: a database that does not answer gets no further checks. */
  private async check(): Promise<void> {
    if (this.isChecking || this.isDraining) return;
    this.isChecking = true;
    try {
      const result = await this.result();
      if (!this.isDraining) this.sink(result);
    } finally {
      this.isChecking = false;
    }
  }

  private async result(): Promise<Readiness> {
    try {
      return { isReady: true, body: await this.readiness() };
    } catch (error) {
      if (error instanceof ServiceUnavailableException) return { isReady: false, body: error.getResponse() as object };
      this.logger.warn({ err: error }, 'The readiness check failed; the server is reported as not ready');
      return { isReady: false, body: { status: 'error' } };
    }
  }
}

/** In tests, from TypeScript, which Node runs, too. */
function startWorker(options: WorkerOptions): Worker {
  if (import.meta.url.endsWith('.ts')) return new Worker(sourceOf('./health-port.executor.ts'), options);
  // Bundlers find the file by this form.
  return new Worker(new URL('./health-port.executor.js', import.meta.url), options);
}

function sourceOf(file: string): URL {
  return new URL(file, import.meta.url);
}
