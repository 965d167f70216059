import { Injectable } from '@nestjs/common';
import { parseIdempotencyKey } from '../../api/index.js';
import type { Principal } from '../../kernel/index.js';
import { isJsonObject } from '../../kernel/json/index.js';
import { hashOf, toInput } from '../client-conversation.js';
import { ClientRunService, type OpenedRun } from '../client-run.service.js';
import { toClientTools, toContinuation, toConversation, toInstructions } from './ag-ui-input.mapper.js';
import type { AgUiInput } from './ag-ui-input.schema.js';
import { RunResumeService, type ResumedRun } from '../interrupts/run-resume.service.js';

/** A request to an agent. */
export interface AgUiRequest {
  readonly agent: string;
  readonly input: AgUiInput;
  readonly idempotencyKey: string | undefined;
}

/** A run with the items that answer a request. */
export type AgUiOpenedRun = Omit<ResumedRun, 'waitedAt'> & Partial<Pick<ResumedRun, 'waitedAt'>>;

/** Finds or starts the run of a request. */
@Injectable()
export class AgUiRunService {
  constructor(
    private readonly clients: ClientRunService,
    private readonly resumes: RunResumeService,
  ) {}

  /**
   * Resumes the run whose interrupts, or calls of frontend tools, the request answers; else starts a run.
   * @param signal ends the items, not the run
   * @throws AppError as `AgentService.stream`, and for answers as `AgentDecisionService`
   */
  async open(principal: Principal, request: AgUiRequest, signal: AbortSignal): Promise<AgUiOpenedRun> {
    const { agent, input } = request;
    if (input.resume && input.resume.length > 0)
      return this.resumes.open(principal, { agent, entries: input.resume }, signal);
    const talk = toConversation(input);
    return (
      (await this.clients.resumeBy(principal, toContinuation(talk), signal)) ??
      (await this.start(principal, request, signal))
    );
  }

  private async start(
    principal: Principal,
    { agent, input, idempotencyKey }: AgUiRequest,
    signal: AbortSignal,
  ): Promise<OpenedRun> {
    const talk = toConversation(input);
    const sessionId = sessionOf(input);
    const { conversation, ...question } = toInput(talk, sessionId !== undefined);
    const idempotency = parseIdempotencyKey(idempotencyKey, `ag-ui/${agent}`, input);
    const instructions = toInstructions(input);
    const clientTools = toClientTools(input.tools ?? []);
    return this.clients.startWith(
      principal,
      {
        agent,
        ...question,
        conversation: {
          ...conversation,
          ...(instructions !== '' && { instructions }),
          // Instructions and context may change from request to request.
          messages: { count: talk.length, hash: hashOf(talk) },
        },
        ...(clientTools.length > 0 && { clientTools }),
        metadata: metadataOf(input),
        ...(sessionId !== undefined && { sessionId }),
        ...(idempotency && { idempotency }),
        wait: idempotencyKey === undefined ? { signal } : {},
      },
      signal,
    );
  }
}

function sessionOf({ forwardedProps: props }: AgUiInput): string | undefined {
  const id = isJsonObject(props) ? props['session_id'] : undefined;
  return typeof id === 'string' ? id : undefined;
}

function metadataOf({ threadId, runId, parentRunId }: AgUiInput): Readonly<Record<string, unknown>> {
  return {
    thread_id: threadId,
    client_run_id: runId,
    ...(typeof parentRunId === 'string' && { parent_client_run_id: parentRunId }),
  };
}
