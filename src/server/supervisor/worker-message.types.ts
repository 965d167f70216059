import type { HealthSignal } from '../../health/index.js';

/** Settings of a worker that its supervisor needs, from the checked configuration. */
export interface SupervisorSettings {
  readonly url: string;
  readonly logLevel: string;
  readonly contextLevels: Readonly<Record<string, string>>;
  readonly logFormat: 'json' | 'text';
  /** Path before the routes; empty without one. */
  readonly prefix: string;
  readonly healthPort?: number;
  readonly healthHost: string;
  readonly metricsPort?: number;
  readonly metricsHost: string;
  /** Time in which a worker that stops has ended, in ms. */
  readonly stopLimitMs: number;
}

/** A line about the start of the server. */
export interface StartLine {
  readonly level: 'info' | 'warn';
  readonly text: string;
}

/** The first message of a worker, when it listens. */
export interface WorkerReady {
  readonly jackdaw: 'ready';
  readonly settings: SupervisorSettings;
  readonly lines: readonly StartLine[];
}

/** A message of a worker. `scrape` requests the metrics of all workers, `metrics` is the answer to a request for its own. */
export type WorkerMessage =
  | WorkerReady
  | { readonly jackdaw: 'health'; readonly signal: HealthSignal }
  | { readonly jackdaw: 'scrape'; readonly id: number }
  | { readonly jackdaw: 'metrics'; readonly id: number; readonly text: string };

/**
 * A message of the supervisor. `stop` ends the worker as a signal ends a server. `retire` ends it after the requests on
 * its connections, as another worker has the port; it waits for them at most `limitMs`. `scraped` has the metrics of all
 * workers.
 */
export type SupervisorMessage =
  | { readonly jackdaw: 'stop' }
  | { readonly jackdaw: 'retire'; readonly limitMs: number }
  | { readonly jackdaw: 'metrics'; readonly id: number }
  | { readonly jackdaw: 'scraped'; readonly id: number; readonly text: string };
