import { Inject, Injectable } from '@nestjs/common';
import { createHash } from 'node:crypto';
import { agentConfig, type AgentConfig } from '../../config/namespaces/index.js';
import { AppError } from '../../errors/index.js';
import { fieldMistake, newId, type Principal } from '../../kernel/index.js';
import type { JsonValue } from '../../kernel/json/index.js';
import { TOOL_CALL_VERSION } from '../../reasoning/index.js';
import { RunService, type StartRun } from '../../run/index.js';
import { type RunFile, RunFileService } from '../../run/files/index.js';
import { assertSessionId, SessionService } from '../../session/index.js';
import { ToolSwitchService } from '../../tool-policy/index.js';
import { ToolExecutor, ToolRegistry } from '../../tool/index.js';
import { toolDisabled } from '../../tool/decision/index.js';
import { waitingRulesSchema } from '../definition/agent-definition.schema.js';
import { AgentService } from '../agent.service.js';
import type { RunAnswer } from '../answer/run-answer.types.js';
import { shownIn } from '../answer/run-answer.mapper.js';
import { DIRECT_CALL_RUN } from './direct-call.handler.js';
import type {
  CallWatch,
  DirectCallAnswer,
  DirectCallDefinition,
  DirectCallInput,
  DirectCallRequest,
} from './direct-call.types.js';

/** Checks a direct call before its run is journaled. */
@Injectable()
export class DirectCallCheckService {
  constructor(
    private readonly tools: ToolRegistry,
    private readonly executor: ToolExecutor,
    private readonly switches: ToolSwitchService,
    private readonly sessions: SessionService,
  ) {}

  /**
   * Checks that the tool exists, is enabled and accepts these arguments.
   * @param args JSON text of an object
   * @throws AppError `TOOL_NOT_FOUND`, `TOOL_DISABLED`, `TOOL_INVALID_ARGUMENTS`
   */
  async tool({ tenant }: Principal, name: string, args: string): Promise<void> {
    await this.tools.arrived([name], NEVER);
    const tool = this.tools.get(name);
    if ((await this.switches.disabled(tenant)).has(name)) throw toolDisabled(name);
    const checked = await this.executor.check({ name, arguments: args }, new Map([[name, tool]]));
    if (checked.kind !== 'rejected' || checked.result.success) return;
    const { code, error } = checked.result;
    const errors = checked.mistakes ?? [fieldMistake('arguments', error, 'isArguments', {})];
    throw new AppError(code, `Tool "${name}" was not called: ${error}`, {
      details: { tool: name, errors },
    });
  }

  /** Checks that the session exists. @throws AppError `VALIDATION_FAILED`, `SESSION_NOT_FOUND` */
  async session(principal: Principal, id: string): Promise<void> {
    assertSessionId(id, 'sessionId');
    await this.sessions.get(principal, id);
  }
}

/** Never aborts: the wait for announced tools always ends by itself. */
const NEVER = new AbortController().signal;

/** Calls tools without an agent: each call is a run without a model. */
@Injectable()
export class DirectCallService {
  constructor(
    @Inject(agentConfig.KEY) private readonly config: AgentConfig,
    private readonly checks: DirectCallCheckService,
    private readonly runs: RunService,
    private readonly agents: AgentService,
    private readonly files: RunFileService,
  ) {}

  /**
   * Calls a tool and waits for the answer. A call that failed, waits for a person or was handed over to the next server
   * start returns an answer too.
   * @param watch follows the run from its first event
   * @throws AppError before the run exists: `TOOL_NOT_FOUND`, `TOOL_DISABLED`, `TOOL_INVALID_ARGUMENTS`,
   *   `SESSION_NOT_FOUND`, `SESSION_BUSY`, `RUN_QUEUE_FULL`, `TENANT_QUEUE_FULL`, `RUN_RATE_LIMITED`,
   *   `IDEMPOTENCY_KEY_REUSED`, `SHUTTING_DOWN`
   */
  async call(
    principal: Principal,
    tool: string,
    request: DirectCallRequest,
    watch: CallWatch = {},
  ): Promise<DirectCallAnswer> {
    const text = JSON.stringify(request.arguments ?? {});
    const check = async (): Promise<void> => {
      await this.checks.tool(principal, tool, text);
      if (request.sessionId !== undefined) await this.checks.session(principal, request.sessionId);
    };
    const { runId: id = newId(), onStart, onItem, wait } = watch;
    const waiting = wait && { wait: { ...wait, deadlineMs: request.deadlineMs } };
    const run = await this.runs.start(
      { ...this.toStart(principal, tool, text, request), id, check, ...waiting },
      onItem,
    );
    onStart?.(run);
    await run.done;
    return this.answer(principal, tool, run.id);
  }

  /** Current answer of a call. @throws AppError `RUN_NOT_FOUND` */
  async answer(principal: Principal, tool: string, runId: string): Promise<DirectCallAnswer> {
    return toAnswer(tool, await this.agents.answer(principal, runId));
  }

  /** The binary content of a call's result, in the order of its numbers. */
  async filesOf(principal: Principal, { run_id, files = [], images = [] }: DirectCallAnswer): Promise<RunFile[]> {
    const shown = images.flatMap(({ file }) => file ?? []);
    const numbers = new Set([...files.map(({ n }) => n), ...shown].toSorted((a, b) => a - b));
    return Promise.all([...numbers].map((n) => this.files.get(principal, run_id, n)));
  }

  private toStart(principal: Principal, tool: string, args: string, request: DirectCallRequest): Omit<StartRun, 'id'> {
    const { sessionId = null, deadlineMs, idempotency } = request;
    const { maxResultBytes, runTimeoutMs } = this.config;
    const { expiresMs } = waitingRulesSchema.parse({});
    const definition = JSON.stringify({ tool, maxResultBytes, waiting: { expiresMs } } satisfies DirectCallDefinition);
    return {
      principal,
      kind: DIRECT_CALL_RUN,
      // Agent names cannot contain a colon.
      agent: `tool:${tool}`,
      sessionId,
      loopVersion: TOOL_CALL_VERSION,
      definition,
      definitionHash: createHash('sha256').update(definition).digest('hex'),
      input: JSON.stringify({ arguments: args } satisfies DirectCallInput),
      question: args,
      timeoutMs: runTimeoutMs,
      ...(deadlineMs !== undefined && { deadlineAt: Date.now() + deadlineMs }),
      ...(idempotency && { idempotency }),
    };
  }
}

function toAnswer(tool: string, run: RunAnswer): DirectCallAnswer {
  const { run_id, session_id, status, waiting, tool_results } = run;
  const execution_time_ms = tool_results[0]?.execution_time_ms;
  return {
    run_id,
    session_id,
    tool,
    status,
    ...outcomeOf(run),
    ...(execution_time_ms !== undefined && { execution_time_ms }),
    ...(waiting && { waiting }),
  };
}

function outcomeOf({ status, output, error, tool_results }: RunAnswer): Partial<DirectCallAnswer> {
  switch (status) {
    case 'completed':
      return { success: true, result: output as JsonValue, ...shownIn(tool_results[0] ?? {}) };
    case 'failed':
      return { success: false, error: error?.message ?? 'The run failed.', code: error?.code ?? 'INTERNAL' };
    case 'cancelled':
      return { success: false, error: tool_results[0]?.error ?? 'It was cancelled.', code: 'RUN_CANCELLED' };
    case 'queued':
    case 'running':
    case 'waiting':
      return {};
  }
}
