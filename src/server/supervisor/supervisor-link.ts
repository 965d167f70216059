import { workerPlace } from '../../config/index.js';
import type { HealthSignal } from '../../health/index.js';
import { END_SIGNALS } from '../end-signal.js';
import { SiblingPort } from './sibling-port.js';
import type { SupervisorMessage, WorkerMessage, WorkerReady } from './worker-message.types.js';

/** The actions of a worker at messages of its supervisor. */
export interface SupervisorHandlers {
  stop(): void;
  /** @param limitMs longest wait for requests */
  retire(limitMs: number): void;
  /** Reads the metrics of this worker. */
  metrics(): Promise<string>;
}

/** The messages between a worker and its supervisor. */
export class SupervisorLink {
  private readonly scrapes = new Map<number, (text: string) => void>();
  private lastScrape = 0;

  /** @returns null in a process that no supervisor of ours has started */
  static open(): SupervisorLink | null {
    const place = workerPlace();
    return place ? new SupervisorLink(new SiblingPort(place.number, place.folder)) : null;
  }

  private constructor(readonly siblings: SiblingPort) {
    // Ctrl+C and a closed terminal reach all processes: the supervisor decides.
    for (const signal of END_SIGNALS) if (signal !== 'SIGTERM') process.on(signal, () => undefined);
  }

  follow(handlers: SupervisorHandlers): void {
    process.on('message', (message: SupervisorMessage) => this.receive(message, handlers));
  }

  ready(message: Omit<WorkerReady, 'jackdaw'>): void {
    this.send({ jackdaw: 'ready', ...message });
  }

  health(signal: HealthSignal): void {
    this.send({ jackdaw: 'health', signal });
  }

  /** The metrics of all workers. */
  scrape(): Promise<string> {
    const id = ++this.lastScrape;
    return new Promise((resolve) => {
      this.scrapes.set(id, resolve);
      this.send({ jackdaw: 'scrape', id });
    });
  }

  /** Messages for the application's own code are ignored. */
  private receive(message: SupervisorMessage, handlers: SupervisorHandlers): void {
    switch (message?.jackdaw) {
      case 'stop':
        return handlers.stop();
      case 'retire':
        return handlers.retire(message.limitMs);
      case 'metrics':
        return void handlers.metrics().then((text) => this.send({ jackdaw: 'metrics', id: message.id, text }));
      case 'scraped':
        this.scrapes.get(message.id)?.(message.text);
        return void this.scrapes.delete(message.id);
    }
  }

  /** Without a supervisor the process ends anyway. */
  private send(message: WorkerMessage): void {
    if (process.connected) process.send!(message, undefined, undefined, () => undefined);
  }
}
