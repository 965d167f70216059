import { Injectable } from '@nestjs/common';
import { AgentService } from '../../agent/index.js';
import { toErrorCode } from '../../agent/answer/index.js';
import { AppError } from '../../errors/index.js';
import type { Principal } from '../../kernel/index.js';
import { isJsonObject, type JsonSchema } from '../../kernel/json/index.js';
import { RunService } from '../../run/index.js';
import type { WaitingRequest } from '../../run/decision/index.js';
import { isTerminal, type RunEvent } from '../../run/event/index.js';
import { toClientCallId } from '../client-call-id.js';
import { type ClientWait, type Interrupt, toInterruptId } from './interrupt.js';

/** A request that a person decides. */
export interface OpenRequest {
  /** The run that waits: the run of the client, or one below it. */
  readonly runId: string;
  readonly request: WaitingRequest;
  /** The call of the client's run that waits; absent if the whole run does. */
  readonly toolCallId?: string;
}

/** The reasons of AG-UI where it has one. */
const REASONS = {
  approval: 'tool_call',
  input: 'input_required',
  outcome_unknown: 'jackdaw:outcome_unknown',
  restored: 'jackdaw:restored',
  child: 'jackdaw:child',
} as const satisfies Record<WaitingRequest['kind'], string>;

const APPROVAL: JsonSchema = {
  type: 'object',
  properties: {
    approved: { type: 'boolean' },
    editedArgs: { type: 'object', description: 'Replaces the arguments of the call.' },
    reason: { type: 'string', description: 'Why the call is denied.' },
  },
  required: ['approved'],
};
const SETTLEMENT: JsonSchema = {
  type: 'object',
  properties: {
    outcome: { enum: ['retry', 'succeeded', 'failed'] },
    result: { description: 'The result of the call; with "succeeded" only.' },
    error: { type: 'string', description: 'With "failed" only.' },
  },
  required: ['outcome'],
};

export function toInterrupt({ runId, request, toolCallId }: OpenRequest): Interrupt {
  const { id, kind, tool, question, reason, expires_at: expiresAt } = request;
  const schema = schemaOf(request);
  return {
    id: toInterruptId({ runId, requestId: id }),
    reason: REASONS[kind],
    message: question ?? (tool === '' ? (reason ?? kind) : `${tool}: ${reason ?? kind}`),
    ...(toolCallId !== undefined && { toolCallId }),
    ...(schema && { responseSchema: schema }),
    ...(expiresAt !== null && { expiresAt: new Date(expiresAt).toISOString() }),
    metadata: { jackdaw: { run_id: runId, request } },
  };
}

function schemaOf({ kind, schema }: WaitingRequest): JsonSchema | undefined {
  switch (kind) {
    case 'approval':
      return APPROVAL;
    case 'outcome_unknown':
      return SETTLEMENT;
    case 'input':
      return isJsonObject(schema) ? schema : undefined;
    case 'child':
    case 'restored':
      return undefined;
  }
}

export type WaitingEvent = Extract<RunEvent, { type: 'run.waiting' }>;

/** The recorded state of a run. */
interface RecordedState {
  /** Number of the last event. */
  readonly n: number;
  /** The last wait, if the run has not resumed from it. */
  readonly waiting: WaitingEvent | undefined;
  readonly hasEnded: boolean;
}

/** Finds the decisions that a run waits for, also in the runs below it. */
@Injectable()
export class RunWaitService {
  constructor(
    private readonly agents: AgentService,
    private readonly runs: RunService,
  ) {}

  /**
   * The calls that a client must execute, which come first, or the decisions that it must get from people.
   * @param signal ends the search, not the runs
   * @returns `undefined` if the run resumes by itself: a run below it has ended
   */
  async waitOf(principal: Principal, event: WaitingEvent, signal: AbortSignal): Promise<ClientWait | undefined> {
    const calls = event.requests.filter(({ by_client: isByClient }) => isByClient);
    const { run_id: runId } = event;
    if (calls.length > 0) return { calls: calls.map(({ step }) => toClientCallId({ runId, step })) };
    const requests = await Promise.all(
      event.requests.map(async (request): Promise<OpenRequest[]> => {
        const toolCallId = request.step === '' ? {} : { toolCallId: toClientCallId({ runId, step: request.step }) };
        if (request.child_run_id === undefined) return [{ runId, request, ...toolCallId }];
        return this.openIn(principal, { runId: request.child_run_id, ...toolCallId }, signal);
      }),
    );
    return requests.flat().length > 0 ? { interrupts: requests.flat().map(toInterrupt) } : undefined;
  }

  /** As `waitOf`, for the last wait of a run that has not resumed from it. */
  async currentWait(
    principal: Principal,
    runId: string,
    signal: AbortSignal,
  ): Promise<{ readonly event: WaitingEvent; readonly wait: ClientWait } | undefined> {
    const { waiting: event } = await this.read(principal, runId);
    const wait = event && (await this.waitOf(principal, event, signal));
    return event && wait ? { event, wait } : undefined;
  }

  /** The open requests of a run and of the runs below it, as soon as each of these has ended or waits. */
  private async openIn(
    principal: Principal,
    { runId, ...call }: Omit<OpenRequest, 'request'>,
    signal: AbortSignal,
  ): Promise<OpenRequest[]> {
    while (!signal.aborted) {
      const { n, waiting, hasEnded } = await this.read(principal, runId);
      if (hasEnded) return [];
      const open = await Promise.all(
        (waiting?.requests ?? []).map(async (request): Promise<OpenRequest[]> =>
          request.child_run_id === undefined
            ? [{ runId, request, ...call }]
            : this.openIn(principal, { runId: request.child_run_id, ...call }, signal),
        ),
      );
      if (open.flat().length > 0) return open.flat();
      await this.settled(runId, n, signal);
    }
    return [];
  }

  private async settled(runId: string, n: number, signal: AbortSignal): Promise<void> {
    for await (const { event } of this.agents.follow(runId, n, signal)) {
      if (event.type === 'stream.closed')
        throw new AppError(toErrorCode(event.code), `Run "${runId}" cannot be followed further here.`);
    }
  }

  private async read(principal: Principal, runId: string): Promise<RecordedState> {
    const { status } = await this.runs.get(principal, runId);
    let last = 0;
    let waiting: WaitingEvent | undefined;
    let hasEnded = false;
    for await (const { event, n } of this.agents.recorded(runId)) {
      last = n ?? last;
      if (event.type === 'run.waiting') waiting = event;
      else if (event.type === 'run.resumed' || (event.type === 'policy.decided' && 'request_id' in event))
        waiting = undefined;
      hasEnded = isTerminal(event);
    }
    return { n: last, waiting: status === 'waiting' ? waiting : undefined, hasEnded };
  }
}
