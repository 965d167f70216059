import { Injectable } from '@nestjs/common';
import { AppError, newId, type Principal } from '../common/index.js';
import { LOOP_VERSION } from '../reasoning/index.js';
import { RunFollowService, RunService, type RunHandle, type RunItem, type RunRecord } from '../run/index.js';
import { SESSION_ID_PATTERN, SessionService } from '../session/index.js';
import { AGENT_RUN, type AgentRunInput } from './agent.handler.js';
import { AgentRegistry } from './agent.registry.js';
import type { AgentRequest, RunAnswer } from './agent.types.js';
import { RunAnswerFold } from './run-answer.mapper.js';

/** A run of an agent that was started here. */
export interface StartedChat extends RunHandle {
  readonly sessionId: string;
}

export interface StreamedChat extends StartedChat {
  /** Everything the run tells, to the event that ends its stream. */
  readonly items: AsyncGenerator<RunItem, void>;
}

/** The public face of agents: ask one, and see what came of it. */
@Injectable()
export class AgentService {
  constructor(
    private readonly agents: AgentRegistry,
    private readonly sessions: SessionService,
    private readonly runs: RunService,
    private readonly follower: RunFollowService,
  ) {}

  /**
   * Starts a run of an agent; it is journaled when this resolves.
   * @param listener gets everything the run tells, from its first event on
   * @throws AppError `VALIDATION_FAILED`, `AGENT_NOT_FOUND`, `SESSION_BUSY`, `SHUTTING_DOWN`
   */
  async start(
    principal: Principal,
    request: AgentRequest,
    listener?: (item: RunItem) => void,
    runId = newId(),
  ): Promise<StartedChat> {
    const { definition, content, hash } = this.agents.get(request.agent);
    const sessionId = request.sessionId ?? newId();
    assertSessionId(sessionId);
    const input: AgentRunInput = {
      query: request.query,
      isStreaming: request.isStreaming ?? false,
      isNewSession: request.sessionId === undefined,
    };
    const handle = await this.runs.start(
      {
        id: runId,
        principal,
        kind: AGENT_RUN,
        agent: definition.name,
        sessionId,
        loopVersion: LOOP_VERSION,
        definition: content,
        definitionHash: hash,
        input: JSON.stringify(input),
        timeoutMs: definition.limits.runTimeoutMs,
        statements: [this.sessions.beginStatement(principal, sessionId)],
      },
      listener,
    );
    return { ...handle, sessionId };
  }

  /**
   * Asks an agent and waits for what comes of it; failed, cancelled and waiting runs are answers too, and so is one that
   * stays queued because the run before it in its session waits for a person.
   * @param onStart gets the run's id as soon as it is journaled
   * @throws AppError as `start`; `SHUTTING_DOWN` when the run was handed over to the server's next start
   */
  async chat(principal: Principal, request: AgentRequest, onStart?: (runId: string) => void): Promise<RunAnswer> {
    const fold = new RunAnswerFold();
    let closedBy: string | null = null;
    const { id, sessionId, done } = await this.start(principal, request, (item) => {
      fold.apply(item);
      if (item.event.type === 'stream.closed') closedBy = item.event.code;
    });
    onStart?.(id);
    const status = await done;
    if (status === 'queued' && closedBy !== 'SESSION_BUSY') {
      throw new AppError(
        'SHUTTING_DOWN',
        `The server is shutting down; run "${id}" is kept and goes on at its next start: GET /api/runs/${id} tells.`,
        { isRetryable: false, details: { run_id: id } },
      );
    }
    // A run that has not begun has told nobody whose it is.
    return { ...fold.toAnswer(), run_id: id, session_id: sessionId, status };
  }

  /**
   * Asks an agent and follows what comes of it, message deltas included.
   * @param signal ends the following, not the run
   * @throws AppError as `start`
   */
  async stream(principal: Principal, request: AgentRequest, signal: AbortSignal): Promise<StreamedChat> {
    const runId = newId();
    const following = this.follower.open(runId);
    try {
      const started = await this.start(principal, { ...request, isStreaming: true }, undefined, runId);
      return { ...started, items: following.items(0, signal) };
    } catch (error) {
      following.close();
      throw error;
    }
  }

  /** What came of a run so far, folded from its journal. @throws AppError `RUN_NOT_FOUND` */
  async answer(principal: Principal, runId: string): Promise<RunAnswer> {
    const run = await this.runs.get(principal, runId);
    const fold = new RunAnswerFold();
    for await (const item of this.follower.recorded(runId, 0)) fold.apply(item);
    return { ...fold.toAnswer(), ...identityOf(run) };
  }
}

function identityOf({
  id,
  sessionId,
  agent,
  status,
}: RunRecord): Pick<RunAnswer, 'run_id' | 'session_id' | 'agent' | 'status'> {
  return { run_id: id, session_id: sessionId, agent, status };
}

function assertSessionId(id: string): void {
  if (SESSION_ID_PATTERN.test(id)) return;
  throw new AppError('VALIDATION_FAILED', 'The session id must be 1 to 128 of A-Z a-z 0-9 _ -.', {
    details: { errors: [{ field: 'sessionId', message: 'must be 1 to 128 of A-Z a-z 0-9 _ -' }] },
  });
}
