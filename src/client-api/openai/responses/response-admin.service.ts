import { Injectable } from '@nestjs/common';
import { AgentService, toQuestion } from '../../../agent/index.js';
import { AppError } from '../../../errors/index.js';
import type { Principal } from '../../../kernel/index.js';
import { RunService } from '../../../run/index.js';
import { toItems, toList } from './message-items.mapper.js';
import { ResponseHistoryService } from './response-history.service.js';
import { ResponseService } from './response.service.js';

/** Cancels and deletes responses, and lists the items of their requests. */
@Injectable()
export class ResponseAdminService {
  constructor(
    private readonly history: ResponseHistoryService,
    private readonly responses: ResponseService,
    private readonly agents: AgentService,
    private readonly runs: RunService,
  ) {}

  /** @throws AppError `RUN_NOT_FOUND`; `REQUEST_REFUSED` while the run is open */
  async remove(principal: Principal, id: string): Promise<object> {
    const { run } = await this.history.find(principal, id);
    await this.history.remove(principal, run.id);
    return { id, object: 'response', deleted: true };
  }

  /** Resolves when the run has ended; a response that has ended stays as it is. */
  async cancel(principal: Principal, id: string): Promise<object> {
    const { run } = await this.history.find(principal, id);
    await this.runs.cancel(principal, run.id).catch((error: unknown) => {
      if (!(error instanceof AppError && error.code === 'RUN_NOT_CANCELLABLE')) throw error;
    });
    await this.agents.outcome(principal, run.id);
    return this.responses.get(principal, id);
  }

  async inputItems(principal: Principal, id: string): Promise<object> {
    const { input } = await this.history.find(principal, id);
    const { history = [], isContinued = false } = input.conversation ?? {};
    const messages = isContinued ? history : [...history, toQuestion(input)];
    return toList(messages.flatMap((message, at) => toItems(message, `in_${at}`)));
  }

  /** @throws AppError `NOT_SUPPORTED` */
  unsupported(route: string): never {
    throw new AppError('NOT_SUPPORTED', `${route} is not supported: agents have no such operation.`);
  }
}
