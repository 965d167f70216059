import { Injectable } from '@nestjs/common';
import { AgentService, ForkedRuns, type AnsweredNode } from '../agent/index.js';
import { AppError } from '../errors/index.js';
import { fieldMistake, type JsonValue, newId, parseExactJson, type Principal } from '../kernel/index.js';
import { RunService, type ForkEdits, type ForkPlan, type RunRecord } from '../run/index.js';
import { SessionService } from '../session/index.js';
import { recordedNode } from './forked-node.factory.js';
import type { WorkflowGraph } from './graph/workflow-graph.types.js';
import { WORKFLOW_VERSION } from './workflow.engine.js';
import { WORKFLOW_RUN, WorkflowHandler, type WorkflowRunInput } from './workflow.handler.js';
import { WorkflowService } from './workflow.service.js';

/** Fork position at which all nodes execute again. */
const FIRST = 'input';

/** Request for a fork of a workflow run. */
export interface WorkflowFork {
  /** `node:<id>`: this node and its descendants execute again; `input`: all nodes. */
  readonly fromStep: string;
  /** Session of the new run; default: a new one, or none if the original run had none. */
  readonly sessionId?: string;
  /** Replaces the workflow's input; only from `input`. */
  readonly input?: unknown;
  /**
   * Output of the node, which is then not executed; `{ to }` for a branch. Only from a node, and not from one that asks
   * a person.
   */
  readonly output?: JsonValue;
}

/** Forks workflow runs by the graph, not by time, because branches execute in parallel. */
@Injectable()
export class WorkflowForkService {
  constructor(
    private readonly runs: RunService,
    private readonly agents: AgentService,
    private readonly handler: WorkflowHandler,
    private readonly forks: ForkedRuns,
    private readonly workflows: WorkflowService,
    private readonly sessions: SessionService,
  ) {}

  /**
   * Starts a run of the same workflow from a copy of another run's steps before a node. The new run is journaled when
   * this resolves, and executes in the background.
   * @returns the new run's id
   * @throws AppError `RUN_NOT_FOUND`, `RUN_PRUNED`, `VALIDATION_FAILED`, `INPUT_BLOCKED`, `RUN_VERSION_UNSUPPORTED`,
   *   `SHUTTING_DOWN`
   */
  async fork(principal: Principal, runId: string, request: WorkflowFork): Promise<string> {
    const { fromStep, sessionId, input } = request;
    const original = await this.runs.get(principal, runId);
    if (original.kind !== WORKFLOW_RUN) throw invalid('id', `run "${runId}" is not a workflow's`, runId);
    const graph = this.handler.graphOf(original);
    if (input !== undefined && fromStep !== FIRST) {
      throw invalid(
        'edit.input',
        `the input can be edited only in a fork from "${FIRST}": all nodes may have used it`,
        input,
      );
    }
    const { nodes = [] } = await this.agents.answer(principal, runId);
    const plan = await this.plan(original, graph, fromStep, nodes);
    const { masked, ...edits } = this.editsOf(request, graph);
    const id = newId();
    const session = sessionId ?? (original.sessionId === null ? null : newId());
    await this.forks.start(
      principal,
      plan,
      {
        id,
        principal,
        kind: WORKFLOW_RUN,
        agent: original.agent,
        sessionId: session,
        loopVersion: WORKFLOW_VERSION,
        definition: original.definition,
        definitionHash: original.definitionHash,
        input: JSON.stringify(this.inputOf(original, graph, input, masked)),
        timeoutMs: graph.definition.limits.runTimeoutMs,
        ...(session !== null && this.sessions.joining(principal, session)),
      },
      edits,
    );
    return id;
  }

  private inputOf(
    original: RunRecord,
    graph: WorkflowGraph,
    input: unknown,
    masked: readonly string[] = [],
  ): WorkflowRunInput {
    const former = parseExactJson(original.input) as WorkflowRunInput;
    const all = [...new Set([...(former.masked ?? []), ...masked])];
    return {
      ...former,
      ...(all.length > 0 && { masked: all }),
      ...(input !== undefined && this.workflows.input(graph, input)),
    };
  }

  /** @throws AppError `VALIDATION_FAILED`, `INPUT_BLOCKED` */
  private editsOf(
    { fromStep, output }: WorkflowFork,
    graph: WorkflowGraph,
  ): ForkEdits & { readonly masked?: readonly string[] } {
    if (output === undefined) return {};
    if (fromStep === FIRST) throw invalid('edit.output', 'it can be given only in a fork from a node', output);
    const { value, ...masked } = this.workflows.output(output);
    const given = recordedNode(graph, fromStep.replace(/^node:/, ''), value);
    if (typeof given === 'string') throw invalid('edit.output', given, output);
    return { given, ...masked };
  }

  private async plan(
    original: RunRecord,
    graph: WorkflowGraph,
    fromStep: string,
    answered: readonly AnsweredNode[],
  ): Promise<ForkPlan> {
    const anew = restartedNodes(graph, fromStep);
    if (fromStep !== FIRST && !this.handler.loopVersions.includes(original.loopVersion)) {
      const what = `Run "${original.id}" was made by version ${original.loopVersion} of workflows, which cannot be replayed any more`;
      throw new AppError('RUN_VERSION_UNSUPPORTED', `${what}: fork it from "${FIRST}".`);
    }
    const reused = new Set(
      answered.filter((node) => isOver(graph, node) && !anew.has(node.node)).map(({ node }) => node),
    );
    const numbers = new Set([...reused].map((id) => graph.nodes.get(id)!.number));
    const { steps, events } = await this.forks.marks(original.id);
    const isReused = (name: string): boolean => {
      const id = nodeIn(name);
      // A claimed call may have happened: with its claim, the fork asks a person before it repeats the call.
      return id !== null && (reused.has(id) || (name.startsWith('claim:') && !anew.has(id)));
    };
    const names = steps.map(({ name }) => name).filter(isReused);
    const numbered = events.filter(({ iteration }) => iteration !== null && numbers.has(iteration));
    return {
      original,
      fromStep,
      prefix: { steps: names, events: numbered.map(({ n }) => n) },
      hasReplies: names.some((name) => name.startsWith('model:')),
      call: null,
    };
  }
}

/** The nodes that the fork executes again. @throws AppError `VALIDATION_FAILED` naming the valid positions */
function restartedNodes({ nodes, descendants }: WorkflowGraph, fromStep: string): ReadonlySet<string> {
  if (fromStep === FIRST) return new Set(nodes.keys());
  const id = fromStep.replace(/^node:/, '');
  if (fromStep !== id && nodes.has(id)) return new Set([id, ...descendants.get(id)!]);
  const known = [FIRST, ...[...nodes.keys()].map((node) => `node:${node}`)];
  throw invalid('fromStep', `it can be forked from ${known.join(', ')}`, fromStep);
}

/** Whether the fork copies the outcome of a node; it does not copy the failure that ended the run. */
function isOver({ nodes }: WorkflowGraph, { node, status }: AnsweredNode): boolean {
  const definition = nodes.get(node)?.definition;
  if (!definition) return false;
  return status === 'completed' || status === 'skipped' || (status === 'failed' && definition.onError !== 'fail');
}

/** The node of a step: `node:each/2`, `node:failed:ask`, `claim:3/ask~2:1`; null for a step of the whole run. */
function nodeIn(name: string): string | null {
  const own = /^node:(?:failed:)?([A-Za-z][\w-]*)/.exec(name);
  const inner = /:\d+\/([A-Za-z][\w-]*)/.exec(name);
  return own?.[1] ?? inner?.[1] ?? null;
}

function invalid(field: string, message: string, value: unknown): AppError {
  return new AppError('VALIDATION_FAILED', `The run cannot be forked so: ${field}: ${message}.`, {
    details: { errors: [fieldMistake(field, message, 'isOfStep', value)] },
  });
}
