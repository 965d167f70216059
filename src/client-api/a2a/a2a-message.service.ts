import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { type AgentRequest, AgentService } from '../../agent/index.js';
import { AgentRegistry } from '../../agent/definition/index.js';
import { AppError } from '../../errors/index.js';
import type { Principal } from '../../kernel/index.js';
import { canonicalJson, isJsonObject } from '../../kernel/json/index.js';
import { CreationKeyStore, type IdempotentRequest, type RunRecord } from '../../run/index.js';
import { z } from 'zod';
import { invalid } from '../client-conversation.js';
import { parsedBy } from '../client-request.parser.js';
import { type Interrupt, type ResumeEntry, resumeEntrySchema } from '../interrupts/interrupt.js';
import { RunResumeService } from '../interrupts/run-resume.service.js';
import type { WatchedRun } from '../interrupts/run-watch.service.js';
import { RunWaitService } from '../interrupts/run-wait.service.js';
import { A2aError } from './a2a.error.js';
import { A2aTaskService } from './a2a-task.service.js';
import type { GivenMessage, SendMessage } from './a2a-request.schema.js';
import { assertAccepted, toQuestion } from './message.mapper.js';
import { isTerminalState } from './task.builder.js';

const answersSchema = z.object({ resume: z.array(resumeEntrySchema).min(1) });

/** A task to which a message was sent. */
export interface SentMessage extends WatchedRun {
  readonly isReplay: boolean;
}

/** Starts the tasks of messages, and answers tasks that wait. */
@Injectable()
export class A2aMessageService {
  constructor(
    private readonly agents: AgentService,
    private readonly registry: AgentRegistry,
    private readonly tasks: A2aTaskService,
    private readonly resumes: RunResumeService,
    private readonly waits: RunWaitService,
    private readonly keys: CreationKeyStore,
  ) {}

  /**
   * Starts the run of a message, or answers the run that it names. The same message again gets the same run.
   * @param signal ends the items, not the run
   * @throws A2aError; AppError as `AgentService.stream`, and for answers as `AgentDecisionService`
   */
  async send(principal: Principal, agent: string, request: SendMessage, signal: AbortSignal): Promise<SentMessage> {
    const { message, configuration } = request;
    if (configuration?.taskPushNotificationConfig !== undefined && configuration.taskPushNotificationConfig !== null)
      throw new A2aError(
        'PUSH_NOTIFICATION_NOT_SUPPORTED',
        'Push notifications are not supported; subscribe to the task.',
      );
    assertAccepted(configuration?.acceptedOutputModes);
    // An unknown agent is no error of the message.
    this.registry.get(agent);
    return message.taskId === undefined
      ? this.start(principal, agent, request, signal)
      : this.answer(principal, agent, message, signal);
  }

  private async start(
    principal: Principal,
    agent: string,
    { message, configuration, metadata }: SendMessage,
    signal: AbortSignal,
  ): Promise<SentMessage> {
    const { 'jackdaw.deadlineMs': deadlineMs, 'jackdaw.budgetTokens': budgetTokens } = metadata ?? {};
    const start: AgentRequest = {
      agent,
      ...toQuestion(message),
      metadata: { message_id: message.messageId, ...(message.metadata && { message_metadata: message.metadata }) },
      idempotency: toIdempotency(agent, message),
      ...(message.contextId !== undefined && { sessionId: message.contextId }),
      ...(deadlineMs !== undefined && { deadlineMs }),
      ...(budgetTokens !== undefined && { budgetTokens }),
    };
    if (configuration?.returnImmediately) {
      const { id, kind } = await this.agents.submit(principal, { ...start, isStreaming: true });
      return { id, isReplay: kind === 'replayed', after: 0, items: this.agents.follow(id, 0, signal) };
    }
    const { id, kind, items } = await this.agents.stream(principal, { ...start, wait: {} }, signal);
    return { id, isReplay: kind === 'replayed', items, after: 0 };
  }

  private async answer(
    principal: Principal,
    agent: string,
    message: GivenMessage,
    signal: AbortSignal,
  ): Promise<SentMessage> {
    const run = await this.tasks.find(principal, agent, message.taskId!);
    if (message.contextId !== undefined && message.contextId !== run.sessionId)
      throw invalid('message.contextId', 'must be the context of the task', message.contextId);
    const entries = readAnswers(message);
    if (entries) return this.resumed(principal, { run, entries }, signal);
    return this.answerByText(principal, run, message, signal);
  }

  private async resumed(
    principal: Principal,
    { run, entries }: { readonly run: RunRecord; readonly entries: readonly ResumeEntry[] },
    signal: AbortSignal,
  ): Promise<SentMessage> {
    const resumed = await this.resumes.open(principal, { agent: run.agent, entries }, signal);
    if (resumed.id !== run.id) throw invalid('message.taskId', 'must be the task of the interrupts', run.id);
    return { ...resumed, isReplay: false };
  }

  /** A text answers the only question of a task. The key of the message makes a repetition harmless. */
  private async answerByText(
    principal: Principal,
    run: RunRecord,
    message: GivenMessage,
    signal: AbortSignal,
  ): Promise<SentMessage> {
    const key = toIdempotency(run.agent, message);
    const reserved = await this.keys.reserve(principal, key, run.id, Date.now());
    if (reserved.isCreated) return this.follow(run, true, signal);
    try {
      const interrupt = await this.onlyQuestion(principal, run, signal);
      const payload = toPayload(interrupt, toQuestion(message).query);
      const entries: ResumeEntry[] = [{ interruptId: interrupt.id, status: 'resolved', payload }];
      const sent = await this.resumed(principal, { run, entries }, signal);
      await this.keys.markCreated(principal, key);
      return sent;
    } catch (error) {
      // The process ended between the decision and the mark.
      if (!reserved.isNew && isNotWaiting(error)) return this.follow(run, true, signal);
      await this.keys.release(principal, key);
      throw error;
    }
  }

  private async follow({ id }: RunRecord, isReplay: boolean, signal: AbortSignal): Promise<SentMessage> {
    return { id, isReplay, after: 0, items: this.agents.follow(id, 0, signal) };
  }

  private async onlyQuestion(principal: Principal, run: RunRecord, signal: AbortSignal): Promise<Interrupt> {
    const { state } = await this.tasks.builderOf(principal, run);
    if (state !== 'TASK_STATE_INPUT_REQUIRED') {
      const why = isTerminalState(state)
        ? 'has ended: send a message with its contextId to continue the conversation'
        : 'does not wait for a message';
      throw new A2aError('UNSUPPORTED_OPERATION', `Task "${run.id}" ${why}.`, { state });
    }
    const current = await this.waits.currentWait(principal, run.id, signal);
    const interrupts = current && 'interrupts' in current.wait ? current.wait.interrupts : [];
    const [interrupt, other] = interrupts;
    if (interrupt && !other && interrupt.reason === 'input_required') return interrupt;
    const message =
      'must have a data part {"resume": [{"interruptId", "status", "payload"}]} with the decision about each interrupt of the status message: a text answers one question only';
    throw invalid('message.parts', message);
  }
}

function isNotWaiting(error: unknown): boolean {
  if (error instanceof A2aError) return error.reason === 'UNSUPPORTED_OPERATION';
  return error instanceof AppError && error.code === 'RUN_NOT_WAITING';
}

/** The decisions of a message: a data part with the member `resume`. */
function readAnswers({ parts }: GivenMessage): readonly ResumeEntry[] | undefined {
  const at = parts.findIndex(({ data }) => isJsonObject(data) && 'resume' in data);
  return at < 0 ? undefined : parsedBy(answersSchema, parts[at]!.data).resume;
}

/** A text is the answer itself, unless the question wants another type. */
function toPayload({ responseSchema }: Interrupt, text: string): unknown {
  const type = isJsonObject(responseSchema) ? responseSchema['type'] : undefined;
  if (type === undefined || type === 'string') return text;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

/** A message is the same as an earlier one by its id and content; the way in which it is answered may differ. */
function toIdempotency(agent: string, { messageId, parts, contextId, taskId }: GivenMessage): IdempotentRequest {
  return { key: `a2a/${hashOf([agent, messageId])}`, bodyHash: hashOf([parts, contextId ?? null, taskId ?? null]) };
}

function hashOf(value: unknown): string {
  return createHash('sha256').update(canonicalJson(value)).digest('hex');
}
