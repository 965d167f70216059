import { Injectable, type OnModuleInit } from '@nestjs/common';
import { publishMasked } from '../agent/index.js';
import { AppError } from '../errors/index.js';
import { type JsonValue, parseExactJson } from '../kernel/json/index.js';
import {
  RunHandlerRegistry,
  type RunEnding,
  type RunHead,
  type RunHandler,
  type RunOutcome,
  type RunRecord,
} from '../run/index.js';
import type { RunContext } from '../run/context/index.js';
import { NO_USAGE, type TerminalEvent } from '../run/event/index.js';
import { toEndedFacts } from '../run/facts/index.js';
import { ToolStateAdminService } from '../tool-state/index.js';
import { workflowSchema } from './definition/workflow.schema.js';
import { createGraph } from './graph/workflow-graph.factory.js';
import type { WorkflowGraph } from './graph/workflow-graph.types.js';
import { WorkflowRegistry } from './workflow.registry.js';
import { WORKFLOW_VERSIONS, WorkflowEngine, type WorkflowOutcome } from './workflow.engine.js';

/** Kind of workflow runs. */
export const WORKFLOW_RUN = 'workflow';

/** The input of a workflow run, as the journal stores it. */
export interface WorkflowRunInput {
  readonly input: JsonValue;
  readonly isStreaming: boolean;
  /** Kinds of content that were masked in the input. */
  readonly masked?: readonly string[];
}

type Ended = Extract<WorkflowOutcome, { kind: 'ended' }>;

/** Maximum number of cached graphs; a definition has a few kilobytes. */
const MOST_GRAPHS = 200;

/** Executes workflow runs. */
@Injectable()
export class WorkflowHandler implements RunHandler, OnModuleInit {
  readonly kind = WORKFLOW_RUN;
  readonly loopVersions = WORKFLOW_VERSIONS;
  /** Parsed graphs, by definition hash. */
  private readonly graphs = new Map<string, WorkflowGraph>();

  constructor(
    private readonly handlers: RunHandlerRegistry,
    private readonly engine: WorkflowEngine,
    private readonly stateAdmin: ToolStateAdminService,
    private readonly workflows: WorkflowRegistry,
  ) {}

  onModuleInit(): void {
    this.handlers.register(this);
  }

  async execute(run: RunRecord, context: RunContext): Promise<RunOutcome> {
    const outcome = await this.outcome(run, context);
    if (outcome.kind !== 'ended') return outcome;
    return { kind: 'finished', event: toEvent(run, outcome), ...(await this.ending(run)) };
  }

  ending(run: RunRecord): Promise<RunEnding> {
    return this.stateAdmin.ending(run);
  }

  /** @throws AppError `WORKFLOW_NOT_FOUND` */
  current({ agent }: RunHead): Pick<RunRecord, 'definition' | 'definitionHash'> {
    const { content: definition, hash: definitionHash } = this.workflows.get(agent.replace(/^workflow:/, ''));
    return { definition, definitionHash };
  }

  /** The graph of a run's definition. */
  graphOf({ definitionHash, definition }: Pick<RunRecord, 'definitionHash' | 'definition'>): WorkflowGraph {
    let graph = this.graphs.get(definitionHash);
    if (graph) return graph;
    graph = createGraph(workflowSchema.parse(JSON.parse(definition)));
    this.graphs.set(definitionHash, graph);
    const [oldest] = this.graphs.keys();
    if (this.graphs.size > MOST_GRAPHS && oldest !== undefined) this.graphs.delete(oldest);
    return graph;
  }

  private async outcome(run: RunRecord, context: RunContext): Promise<WorkflowOutcome> {
    const { loopVersion: version } = run;
    if (!WORKFLOW_VERSIONS.includes(version)) return outdated(run);
    const { input, isStreaming, masked } = parseExactJson(run.input) as WorkflowRunInput;
    await publishMasked(context, masked);
    return this.engine.run({ graph: this.graphOf(run), input, isStreaming, version }, context);
  }
}

function toEvent({ id: run_id }: RunRecord, { finishReason, output, cost, facts, failure }: Ended): TerminalEvent {
  const hasOutput = !failure && finishReason !== 'cancelled';
  const firstEvent = {
    run_id,
    result: hasOutput ? toText(output) : '',
    ...(hasOutput && { output }),
    finish_reason: finishReason,
    is_complete: finishReason === 'stop',
    iterations: cost.model_calls ?? 0,
    usage: cost.usage ?? NO_USAGE,
    model: '',
    ...toEndedFacts(facts),
    ...(cost.children_usage && { children_usage: cost.children_usage }),
  };
  if (finishReason === 'cancelled') return { type: 'run.cancelled', ...firstEvent };
  return failure ? { type: 'run.failed', ...firstEvent, error: failure } : { type: 'run.completed', ...firstEvent };
}

function toText(output: JsonValue): string {
  return typeof output === 'string' ? output : JSON.stringify(output);
}

/** Ends a run of an unsupported version, which cannot be replayed. */
function outdated({ loopVersion }: RunRecord): Ended {
  const { code, message } = new AppError(
    'RUN_VERSION_UNSUPPORTED',
    `The run was started by version ${loopVersion} of workflows; this server runs ${WORKFLOW_VERSIONS.join(' and ')}. Start it again.`,
  );
  const failure = { code, message, is_retryable: false };
  return { kind: 'ended', finishReason: 'error', output: null, cost: {}, facts: [], failure };
}
