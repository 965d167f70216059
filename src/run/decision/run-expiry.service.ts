import {
  Injectable,
  Logger,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
  type OnModuleDestroy,
} from '@nestjs/common';
import { AppError } from '../../common/index.js';
import { ChildAnswerService } from '../child/child-answer.service.js';
import { RunBus } from '../run-bus.js';
import { RunCancelService } from '../run-cancel.service.js';
import { RunJournal } from '../run-journal.js';
import { RunDecisionService } from './run-decision.service.js';
import { WaitingRunStore } from './waiting-run.store.js';

const UNREADABLE: readonly string[] = ['DATA_TAMPERED', 'ENCRYPTION_KEY_UNKNOWN'];
/** What became due elsewhere, or while nothing ran here, is found after this time at the latest. */
const POLL_MS = 10_000;

/**
 * Answers for people who do not: a request that nobody decided in time expires, and so does a run that could not begin by its
 * deadline. Answers, too, what a crash has kept from
 * being answered: runs that wait for one that has ended, or were called by one. One timer for all runs; of several nodes
 * that see the same one, the first counts.
 */
@Injectable()
export class RunExpiryService implements OnApplicationBootstrap, OnModuleDestroy, BeforeApplicationShutdown {
  private readonly logger = new Logger(RunExpiryService.name);
  private timer: NodeJS.Timeout | undefined;
  private isClosing = false;
  /** The look that is being taken. */
  private looking: Promise<void> | null = null;
  private mustLookAgain = false;

  constructor(
    private readonly journal: RunJournal,
    private readonly bus: RunBus,
    private readonly decisions: RunDecisionService,
    private readonly waiting: WaitingRunStore,
    private readonly children: ChildAnswerService,
    private readonly cancels: RunCancelService,
  ) {}

  /** The first look comes late: what it sets going must not begin before the application listens. */
  onApplicationBootstrap(): void {
    this.schedule(POLL_MS);
    // A run that turns to waiting wakes.
    this.bus.onWake((_runId, isOwn) => isOwn && this.lookSoon());
  }

  onModuleDestroy(): void {
    this.isClosing = true;
    clearTimeout(this.timer);
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.looking;
  }

  /** Lets everything expire that is due. */
  async expireDue(now = Date.now()): Promise<void> {
    for (const runId of await this.waiting.expired(now)) {
      await this.expire(runId, now).catch((err: unknown) => {
        // One that was tampered with, or whose key is not there, must not keep the others waiting.
        if (!(err instanceof AppError) || !UNREADABLE.includes(err.code)) throw err;
        this.logger.error({ err, run_id: runId }, 'A run that waits cannot be read, and does not expire');
      });
    }
  }

  private lookSoon(): void {
    if (this.isClosing) return;
    if (this.looking) {
      this.mustLookAgain = true;
      return;
    }
    this.looking = this.look()
      .catch((err: unknown) => {
        this.logger.warn({ err }, 'What waits for people could not be looked through; it is tried again');
        this.schedule(POLL_MS);
      })
      .finally(() => {
        this.looking = null;
        if (!this.mustLookAgain) return;
        this.mustLookAgain = false;
        this.lookSoon();
      });
  }

  private async look(): Promise<void> {
    const now = Date.now();
    await this.expireDue(now);
    await this.children.answerAll(() => this.isClosing);
    const next = await this.waiting.nextExpiry(now);
    this.schedule(next === null ? POLL_MS : next - now);
  }

  private schedule(delayMs: number): void {
    clearTimeout(this.timer);
    if (this.isClosing) return;
    this.timer = setTimeout(() => this.lookSoon(), Math.min(delayMs, POLL_MS));
    this.timer.unref();
  }

  private async expire(runId: string, now: number): Promise<void> {
    const run = await this.journal.find(runId);
    // One that somebody has answered meanwhile is queued as well, and has begun.
    if (run?.status === 'queued' && run.epoch === 0) await this.cancels.giveUp(run, now);
    if (run?.status !== 'waiting') return;
    const requests = await this.waiting.requests(runId);
    const due = requests.filter(({ expires_at }) => expires_at !== null && expires_at <= now);
    if (due.length === 0) return;
    const answers = due.map((request) => ({ request, verdict: { kind: 'expire' } as const }));
    try {
      await this.decisions.decide({ run, requests }, answers, null);
    } catch (error) {
      // Somebody was faster: a person, or another node.
      if (!(error instanceof AppError && error.code === 'RUN_NOT_WAITING')) throw error;
    }
  }
}
