import { Injectable, type OnModuleInit } from '@nestjs/common';
import { AppError } from '../../errors/index.js';
import { TOOL_CALL_VERSION, ToolCallEngine, type ToolCallOutcome } from '../../reasoning/index.js';
import {
  RunHandlerRegistry,
  type RunEnding,
  type RunHandler,
  type RunOutcome,
  type RunRecord,
} from '../../run/index.js';
import type { RunContext } from '../../run/context/index.js';
import { NO_USAGE, type TerminalEvent } from '../../run/event/index.js';
import { toEndedFacts } from '../../run/facts/index.js';
import { ToolRegistry } from '../../tool/index.js';
import { failedResult, toolResultText } from '../../tool/result/index.js';
import { ToolStateAdminService, ToolStates } from '../../tool-state/index.js';
import type { DirectCallDefinition, DirectCallInput } from './direct-call.types.js';

export const DIRECT_CALL_RUN = 'tool';

type Ended = Extract<ToolCallOutcome, { kind: 'ended' }>;

/** Id of the run's only call. */
const CALL_ID = 'call_1';

/** Executes runs that are one tool call. */
@Injectable()
export class DirectCallHandler implements RunHandler, OnModuleInit {
  readonly kind = DIRECT_CALL_RUN;
  readonly loopVersions = [TOOL_CALL_VERSION];

  constructor(
    private readonly handlers: RunHandlerRegistry,
    private readonly engine: ToolCallEngine,
    private readonly tools: ToolRegistry,
    private readonly states: ToolStates,
    private readonly stateAdmin: ToolStateAdminService,
  ) {}

  onModuleInit(): void {
    this.handlers.register(this);
  }

  async execute(run: RunRecord, context: RunContext): Promise<RunOutcome> {
    const { tool: name, ...limits } = JSON.parse(run.definition) as DirectCallDefinition;
    if (run.loopVersion !== TOOL_CALL_VERSION)
      return { ...finished(run, outdated(run, name)), ...(await this.ending(run)) };
    const { arguments: args } = JSON.parse(run.input) as DirectCallInput;
    await this.tools.arrived([name], context.signal);
    // A call to a removed tool returns an error.
    const tool = this.tools.has(name) ? this.tools.get(name) : undefined;
    const call = { id: CALL_ID, name, arguments: args };
    const outcome = await this.engine.run({ call, tool, ...limits }, context);
    if (outcome.kind !== 'ended') return outcome;
    const end = tool ? await this.states.ending(context, [tool]) : await this.ending(run);
    return { ...finished(run, outcome), ...end };
  }

  ending(run: RunRecord): Promise<RunEnding> {
    return this.stateAdmin.ending(run);
  }
}

/** The call's session gets no turn, because no message was exchanged. */
function finished(run: RunRecord, ended: Ended): RunOutcome {
  return { kind: 'finished', event: toEvent(run, ended), statements: [] };
}

function toEvent(
  run: RunRecord,
  { finishReason, result, failure, usage = NO_USAGE, childrenUsage, facts = [] }: Ended,
): TerminalEvent {
  const firstEvent = {
    run_id: run.id,
    result: result.success ? toolResultText(result) : '',
    ...(result.success && { output: result.result }),
    finish_reason: finishReason,
    is_complete: finishReason === 'stop',
    iterations: 0,
    usage,
    model: '',
    ...toEndedFacts(facts),
    ...(childrenUsage && { children_usage: childrenUsage }),
  };
  if (finishReason === 'cancelled') return { type: 'run.cancelled', ...firstEvent };
  return failure ? { type: 'run.failed', ...firstEvent, error: failure } : { type: 'run.completed', ...firstEvent };
}

/** Ends a call of an unsupported version, which cannot be replayed. */
function outdated({ loopVersion }: RunRecord, tool: string): Ended {
  const { code, message } = new AppError(
    'RUN_VERSION_UNSUPPORTED',
    `The call was started by version ${loopVersion} of direct calls; this server makes version ${TOOL_CALL_VERSION}. Look whether it happened, then call again.`,
  );
  return {
    kind: 'ended',
    finishReason: 'error',
    result: failedResult(tool, 'TOOL_OUTCOME_UNKNOWN', message),
    failure: { code, message, is_retryable: false },
  };
}
