import {
  Injectable,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
  type OnModuleDestroy,
} from '@nestjs/common';
import { AppError, Log } from '../../errors/index.js';
import { WallClockCheck } from '../../kernel/index.js';
import { ChildAnswerService } from '../tree/child-answer.service.js';
import { RunBus } from '../follow/run-bus.js';
import { RunCancelService } from '../run-cancel.service.js';
import { RunJournal } from '../run-journal.js';
import { RunDecisionService } from './run-decision.service.js';
import { WaitingRunStore } from './waiting-run.store.js';

const UNREADABLE: readonly string[] = ['DATA_TAMPERED', 'ENCRYPTION_KEY_UNKNOWN'];
/** Longest time until an expiry is noticed that another node scheduled, in ms. */
const POLL_MS = 10_000;

/**
 * Expires undecided requests and queued runs that did not start by their deadline. Also repeats answers that a crash
 * prevented: to runs that wait for an ended child, and to waiting runs whose parent has ended. One timer serves all
 * runs; of several nodes that handle the same run, the first succeeds. After a jump of the wall clock nothing expires for
 * ten minutes.
 */
@Injectable()
export class RunExpiryService implements OnApplicationBootstrap, OnModuleDestroy, BeforeApplicationShutdown {
  private readonly logger = new Log(RunExpiryService.name);
  private timer: NodeJS.Timeout | undefined;
  private isClosing = false;
  /** The check in progress. */
  private checking: Promise<void> | null = null;
  private mustCheckAgain = false;
  private readonly clock = new WallClockCheck();

  constructor(
    private readonly journal: RunJournal,
    private readonly bus: RunBus,
    private readonly decisions: RunDecisionService,
    private readonly waiting: WaitingRunStore,
    private readonly children: ChildAnswerService,
    private readonly cancels: RunCancelService,
  ) {}

  /** Delays the first check: it resumes runs, which must not start before the application listens. */
  async onApplicationBootstrap(): Promise<void> {
    await this.journal.database.onceOpen(() => this.schedule(POLL_MS));
    // A run that changes to waiting sends a wake-up.
    this.bus.onWake((_runId, isOwn) => isOwn && this.checkSoon());
  }

  onModuleDestroy(): void {
    this.isClosing = true;
    clearTimeout(this.timer);
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.checking;
  }

  /** Expires all due requests and runs. */
  async expireDue(now = Date.now()): Promise<void> {
    for (const runId of await this.waiting.expired(now)) {
      await this.expire(runId, now).catch((err: unknown) => {
        // A tampered run, or one whose key is missing, must not block the others.
        if (!(err instanceof AppError) || !UNREADABLE.includes(err.code)) throw err;
        this.logger.error({ err, run_id: runId }, 'Failed to read a waiting run; it does not expire');
      });
    }
  }

  private checkSoon(): void {
    if (this.isClosing) return;
    if (this.checking) {
      this.mustCheckAgain = true;
      return;
    }
    this.checking = this.check()
      .catch((err: unknown) => {
        this.logger.warn({ err }, 'Failed to check waiting runs for expiry; retrying');
        this.schedule(POLL_MS);
      })
      .finally(() => {
        this.checking = null;
        if (!this.mustCheckAgain) return;
        this.mustCheckAgain = false;
        this.checkSoon();
      });
  }

  private async check(): Promise<void> {
    const now = Date.now();
    const isTrusted = this.clock.waitMs((jumpMs) => this.warnOfJump(jumpMs)) === 0;
    if (isTrusted) await this.expireDue(now);
    await this.children.answerAll(() => this.isClosing);
    const next = isTrusted ? await this.waiting.nextExpiry(now) : null;
    this.schedule(next === null ? POLL_MS : next - now);
  }

  private warnOfJump(jumpMs: number): void {
    this.logger.warn({ jump_ms: jumpMs }, 'Wall clock jumped; no request to a person expires for 10 minutes');
  }

  private schedule(delayMs: number): void {
    clearTimeout(this.timer);
    if (this.isClosing) return;
    this.timer = setTimeout(() => this.checkSoon(), Math.min(delayMs, POLL_MS));
    this.timer.unref();
  }

  private async expire(runId: string, now: number): Promise<void> {
    const run = await this.journal.find(runId);
    // An answered run is queued too, but has an epoch above 0.
    if (run?.status === 'queued' && run.epoch === 0) await this.cancels.failOverdue(run, now);
    if (run?.status !== 'waiting') return;
    const requests = await this.waiting.requests(runId);
    const due = requests.filter(({ expires_at }) => expires_at !== null && expires_at <= now);
    if (due.length === 0) return;
    const answers = due.map((request) => ({ request, verdict: { kind: 'expire' } as const }));
    try {
      await this.decisions.decide({ run, requests }, answers, null);
    } catch (error) {
      // A person or another node was faster.
      if (!(error instanceof AppError && error.code === 'RUN_NOT_WAITING')) throw error;
    }
  }
}
