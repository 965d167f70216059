import { type BeforeApplicationShutdown, Inject, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { a2aConfig, type A2aConfig } from '../config/namespaces/index.js';
import { AppError, Log, messageOf } from '../errors/index.js';
import { RecurringWork } from '../kernel/index.js';
import { Database } from '../persistence/index.js';
import { RunDecisionService, type StoredMemo, type WaitingRequest, type WaitingRun } from '../run/decision/index.js';
import { RunListenerRegistry } from '../run/follow/index.js';
import { RemoteAgentRegistry } from './remote-agent.registry.js';
import type { RemoteMemo } from './remote-question.mapper.js';

const LOOK_MS = 30_000;

/**
 * Resumes runs that wait for a question of a remote agent when the remote task has continued without them, because a
 * person there decided; and cancels the remote tasks of runs that were cancelled while they waited. Of several processes,
 * the first one resumes a run.
 */
@Injectable()
export class RemoteTaskWatcher implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Log('RemoteAgents');
  private readonly looking: RecurringWork;
  private unlisten: readonly (() => void)[] = [];

  constructor(
    @Inject(a2aConfig.KEY) private readonly config: A2aConfig,
    private readonly agents: RemoteAgentRegistry,
    private readonly decisions: RunDecisionService,
    private readonly runs: RunListenerRegistry,
    private readonly database: Database,
  ) {
    this.looking = new RecurringWork({
      work: () => this.look(),
      onFailure: (error) => this.logger.warn(`Failed to look at remote tasks: ${messageOf(error)}`),
      retryMs: config.pollMs,
    });
  }

  async onApplicationBootstrap(): Promise<void> {
    if (this.agents.names.size === 0) return;
    const { name } = RemoteTaskWatcher;
    const abandon = ({ runId }: { readonly runId: string }) => this.abandon(runId);
    this.unlisten = [
      this.runs.register(name, 'run.cancelled', abandon),
      this.runs.register(name, 'run.failed', abandon),
    ];
    await this.database.onceOpen(async () => this.looking.start(this.config.pollMs));
  }

  async beforeApplicationShutdown(): Promise<void> {
    for (const stop of this.unlisten) stop();
    await this.looking.stop();
  }

  /** @returns ms until the next look */
  private async look(): Promise<number> {
    for await (const waiting of this.decisions.waitingOn(this.agents.names)) {
      if (this.looking.isStopping) break;
      const memos = await this.decisions.memosOf(waiting.run.id, this.agents.names);
      for (const request of waiting.requests) {
        const stored = memos.get(request.id);
        if (stored) await this.resumeIfMoved(waiting, request, stored);
      }
    }
    return this.config.pollMs;
  }

  private async resumeIfMoved(waiting: WaitingRun, request: WaitingRequest, stored: StoredMemo): Promise<void> {
    const taskId = taskOf(stored);
    try {
      const task = await this.agents.callsOf(stored.tool)?.look(taskId, AbortSignal.timeout(LOOK_MS));
      if (!task || task.state === 'input-required') return;
      await this.decisions.decide(waiting, [{ request, verdict: { kind: 'input', value: null } }], null);
    } catch (error) {
      // A person here was faster.
      if (error instanceof AppError && error.code === 'RUN_NOT_WAITING') return;
      this.logger.debug(`Task ${taskId} of remote agent "${stored.tool}" cannot be read: ${messageOf(error)}`);
    }
  }

  /** Cancels the tasks that a run had waited for; one that has ended since refuses it. */
  private async abandon(runId: string): Promise<void> {
    for (const stored of (await this.decisions.memosOf(runId, this.agents.names)).values())
      await this.agents.callsOf(stored.tool)?.abandon(taskOf(stored), AbortSignal.timeout(LOOK_MS));
  }
}

function taskOf({ memo }: StoredMemo): string {
  return (memo as unknown as RemoteMemo).taskId;
}
