import type { Agent } from '../../client/index.js';
import type { INestApplicationContext } from '@nestjs/common';
import { AgentService } from '../../agent/index.js';
import { AgentRegistry } from '../../agent/definition/index.js';
import { AppError } from '../../errors/index.js';
import { createHash } from 'node:crypto';
import { RunService } from '../../run/index.js';
import { WorkflowRegistry, WorkflowService } from '../../workflow/index.js';
import type { Principal } from '../../kernel/index.js';
import { canonicalJson } from '../../kernel/json/index.js';
import type { JackdawClient } from '../../http-client/index.js';
import type { EvalAnswer, EvalCall, EvalQuestion, EvalSubject, EvalUsage } from './eval.types.js';

/** Time after which a run of an eval ends, in ms, also while it waits for a person. */
const DEADLINE_MS = 600_000;
/** Failed runs of one key; the last one then counts. */
const MAX_ATTEMPTS = 20;

/** The members of an answer that evals read: of the library and of the REST API. */
export interface AnswerShape {
  readonly run_id: string;
  readonly status: string;
  readonly result: string;
  readonly output?: unknown;
  readonly iterations: number;
  readonly duration_ms: number;
  readonly usage: UsageShape;
  readonly children_usage?: UsageShape;
  readonly steps: readonly { readonly action: string; readonly action_input: unknown; readonly is_finished: boolean }[];
  readonly tool_results: readonly {
    readonly tool: string;
    readonly success: boolean;
    readonly result?: unknown;
    readonly error?: string;
  }[];
  readonly error?: { readonly code: string; readonly message: string };
}

interface UsageShape {
  readonly total_tokens: number;
  readonly cost?: number;
}

interface Started {
  readonly runId: string;
  readonly status: string;
}

/** The part of a `JackdawClient` that evals use; its class differs between the entries of the package. */
export interface EvalClient {
  readonly agents: Pick<JackdawClient['agents'], 'list'>;
  readonly workflows: Pick<JackdawClient['workflows'], 'get' | 'start'>;
  /** Resumes a run of an interrupted eval, if the server does not. */
  readonly resume?: (runId: string) => Promise<void>;
  readonly runs: Pick<JackdawClient['runs'], 'start' | 'get'> & {
    readonly follow: (id: string) => AsyncIterable<unknown>;
  };
}

/** Asks the agents and workflows of an application, here or on a server. */
export abstract class EvalAsker {
  /** A hash of the definition. @throws AppError `AGENT_NOT_FOUND`, `WORKFLOW_NOT_FOUND` */
  abstract revision(subject: EvalSubject): Promise<string>;

  /** A run of an earlier process is returned, too; one that failed is started again. */
  async ask(question: EvalQuestion): Promise<EvalAnswer> {
    for (let attempt = 1; ; attempt++) {
      const { runId, status } = await this.start(question, attempt === 1 ? question.key : `${question.key}-${attempt}`);
      const isFailed = status === 'failed' || status === 'cancelled';
      if (!isFailed || attempt === MAX_ATTEMPTS) return toAnswer(await this.outcome(runId));
    }
  }

  /** @returns the run, with the status at its start, or of the earlier run with this key */
  protected abstract start(question: EvalQuestion, key: string): Promise<Started>;
  /** Waits until the run has ended or waits for a person. */
  protected abstract outcome(runId: string): Promise<AnswerShape>;
}

type LocalServices = readonly [AgentService, AgentRegistry, WorkflowService, WorkflowRegistry, RunService];

/** Asks in this process. */
class LocalAsker extends EvalAsker {
  constructor(
    private readonly principal: Principal,
    private readonly services: LocalServices,
  ) {
    super();
  }

  revision({ agent, workflow }: EvalSubject): Promise<string> {
    const [, agents, , workflows] = this.services;
    return Promise.resolve(workflow === undefined ? agents.get(agent).hash : workflows.get(workflow).hash);
  }

  protected async start(question: EvalQuestion, key: string): Promise<Started> {
    const [agents, , , , runs] = this.services;
    const run = await this.submit(question, key);
    if (run.kind !== 'replayed') return { runId: run.id, status: 'queued' };
    await runs.resume(run.id);
    return { runId: run.id, status: (await agents.answer(this.principal, run.id)).status };
  }

  private submit({ input, agent, workflow, responseFormat, isTainted }: EvalQuestion, key: string) {
    const [agents, , workflows] = this.services;
    const common = {
      deadlineMs: DEADLINE_MS,
      idempotency: { key, bodyHash: hashOf([input, agent, workflow, responseFormat]) },
    };
    if (workflow !== undefined) return workflows.submit(this.principal, workflow, { input, ...common });
    return agents.submit(this.principal, {
      query: input as string,
      ...common,
      ...(agent !== undefined && { agent }),
      ...(responseFormat && { responseFormat: { schema: responseFormat } }),
      ...(isTainted && { isTainted }),
    });
  }

  protected outcome(runId: string): Promise<AnswerShape> {
    return this.services[0].outcome(this.principal, runId);
  }
}

/** Asks a server. */
class RemoteAsker extends EvalAsker {
  constructor(private readonly client: EvalClient) {
    super();
  }

  /** Without the instructions, which the API does not publish. */
  async revision({ agent, workflow }: EvalSubject): Promise<string> {
    if (workflow !== undefined) return hashOf(await this.client.workflows.get(workflow));
    const { agents } = await this.client.agents.list();
    const found = agents.find(({ name, is_default }) => (agent === undefined ? is_default : name === agent));
    if (found) return hashOf(found);
    throw new AppError('AGENT_NOT_FOUND', `The server has no agent "${agent ?? 'default'}".`);
  }

  protected async start(question: EvalQuestion, key: string): Promise<Started> {
    const { run_id, status } = await this.submit(question, key);
    if (status === 'queued' || status === 'running') await this.client.resume?.(run_id);
    return { runId: run_id, status };
  }

  private submit({ input, agent, workflow, responseFormat, isTainted }: EvalQuestion, key: string) {
    const [common, options] = [{ deadlineMs: DEADLINE_MS }, { idempotencyKey: key }];
    if (isTainted) throw new AppError('VALIDATION_FAILED', 'Lines with untrusted questions run in this process only.');
    if (workflow !== undefined)
      return this.client.workflows.start(workflow, { input: input as Record<string, unknown>, ...common }, options);
    const request = {
      query: input as string,
      ...common,
      ...(agent !== undefined && { agent }),
      ...(responseFormat && { responseFormat: { schema: responseFormat } }),
    };
    return this.client.runs.start(request, options);
  }

  protected async outcome(runId: string): Promise<AnswerShape> {
    for await (const _ of this.client.runs.follow(runId));
    return this.client.runs.get(runId);
  }
}

/** An agent of the library, a Nest application with Jackdaw, or the client of a server. */
export type EvalTarget = Agent | INestApplicationContext | EvalClient;

/** The principal of evals in a Nest application. */
const EVALUATOR: Principal = { id: 'evals', tenant: 'default', roles: ['admin'] };

export function askerOf(given: EvalTarget): EvalAsker {
  if ('runs' in given) return new RemoteAsker(given);
  if ('get' in given) {
    const get = <T>(token: new (...args: never[]) => T) => given.get<T>(token, { strict: false });
    return new LocalAsker(EVALUATOR, [
      get(AgentService),
      get(AgentRegistry),
      get(WorkflowService),
      get(WorkflowRegistry),
      get(RunService),
    ]);
  }
  const { agents, registry, workflows, workflowRegistry, runs } = given['services'];
  return new LocalAsker(given['principal'], [agents, registry, workflows, workflowRegistry, runs]);
}

export function hashOf(value: unknown): string {
  return createHash('sha256').update(canonicalJson(value)).digest('hex');
}

function toAnswer(answer: AnswerShape): EvalAnswer {
  const { run_id, status, result, iterations, duration_ms, usage, children_usage, error } = answer;
  return {
    runId: run_id,
    status,
    text: result,
    ...('output' in answer && { output: answer.output }),
    calls: callsOf(answer),
    steps: iterations,
    durationMs: duration_ms,
    usage: addUsage(usageOf(usage), usageOf(children_usage)),
    ...(error && { error: `${error.code}: ${error.message}` }),
  };
}

/** Pairs calls with their results, which have the same order; a waiting call has none. */
export function callsOf({ steps, tool_results }: AnswerShape): EvalCall[] {
  const results = [...tool_results];
  return steps
    .filter(({ is_finished }) => !is_finished)
    .map(({ action, action_input }) => {
      const call = { tool: action, arguments: action_input };
      if (results[0]?.tool !== action) return call;
      const { success, result, error } = results.shift()!;
      return { ...call, isSuccessful: success, ...(success ? { result } : { error: error ?? '' }) };
    });
}

function usageOf(usage: UsageShape | undefined): EvalUsage {
  return { tokens: usage?.total_tokens ?? 0, cost: usage?.cost ?? 0 };
}

/** To a billionth, as costs are. */
export function addUsage(a: EvalUsage, b: EvalUsage): EvalUsage {
  return { tokens: a.tokens + b.tokens, cost: Math.round((a.cost + b.cost) * 1e9) / 1e9 };
}
