import { Injectable, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import { Log } from '../../errors/index.js';
import { RecurringWork } from '../../kernel/index.js';
import { UsageDayStore } from './usage-day.store.js';

/** Interval of the rounds: it bounds the unsummed calls that a query of usage reads. */
const EVERY_MS = 10_000;
const RETRY_MS = 60_000;
const CALLS_A_BATCH = 200;

/** Adds new calls to the daily sums of usage. Every process does so; each call is added once. */
@Injectable()
export class UsageDayService implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Log(UsageDayService.name);
  private readonly rounds = new RecurringWork({
    work: () => this.addAll(),
    onFailure: (err) => this.logger.warn({ err }, 'Failed to sum the usage of calls; retrying in a minute'),
    retryMs: RETRY_MS,
  });

  constructor(private readonly store: UsageDayStore) {}

  async onApplicationBootstrap(): Promise<void> {
    await this.store.onceOpen(() => this.rounds.start(EVERY_MS));
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.rounds.stop();
  }

  private async addAll(): Promise<number> {
    while (!this.rounds.isStopping && (await this.store.add(CALLS_A_BATCH))) await this.rounds.rest();
    return EVERY_MS;
  }
}
