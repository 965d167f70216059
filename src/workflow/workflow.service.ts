import { Injectable } from '@nestjs/common';
import { AgentService } from '../agent/index.js';
import type { RunAnswer } from '../agent/answer/index.js';
import { AppError } from '../errors/index.js';
import { fieldMistake, type FieldMistake, newId, type Principal } from '../kernel/index.js';
import { isJsonObject, type JsonSchema, type JsonValue, parseExactJson } from '../kernel/json/index.js';
import { RunService, type IdempotentRequest, type RunHandle, type StartRun, type SubmittedWith } from '../run/index.js';
import { admit, type Admitted } from '../security/content/index.js';
import { assertSessionId, SessionService } from '../session/index.js';
import { createValueCheck } from '../tool/input/index.js';
import { SecurityPolicies } from '../tool-policy/index.js';
import type { NodeDefinition } from './definition/node.schema.js';
import { inputText } from './execution/agent-node.executor.js';
import type { WorkflowGraph } from './graph/workflow-graph.types.js';
import { compileTemplate, fillText, type Scope } from './template/template.parser.js';
import { WORKFLOW_VERSION } from './workflow.engine.js';
import { WORKFLOW_RUN, type WorkflowRunInput } from './workflow.handler.js';
import { WorkflowRegistry, type RegisteredWorkflow } from './workflow.registry.js';

/** Options of a workflow run. */
export interface WorkflowStart {
  /** An object that is valid for the workflow's `input` schema; default `{}`. */
  readonly input?: unknown;
  /** Session in which the workflow's agents remember earlier questions; an executing run occupies it. */
  readonly sessionId?: string;
  /** 0 (default) to 9; among queued runs, the higher priority starts first. */
  readonly priority?: number;
  /** Time to the run's deadline, in ms; the run then ends, whatever its status. */
  readonly deadlineMs?: number;
  /** Repeated requests with the same key return the same run. */
  readonly idempotency?: IdempotentRequest;
}

/** Starts workflow runs. */
@Injectable()
export class WorkflowService {
  constructor(
    private readonly workflows: WorkflowRegistry,
    private readonly runs: RunService,
    private readonly agents: AgentService,
    private readonly sessions: SessionService,
    private readonly policies: SecurityPolicies,
  ) {}

  /**
   * Starts a workflow and waits for the answer. Failed, cancelled and waiting runs return an answer too.
   * @param onStart called with the run when it is journaled
   * @throws AppError `WORKFLOW_NOT_FOUND`, `VALIDATION_FAILED`, `INPUT_BLOCKED`, and the errors of every run start
   */
  async run(
    principal: Principal,
    workflow: string | RegisteredWorkflow,
    start: WorkflowStart = {},
    onStart?: (run: RunHandle) => void,
  ): Promise<RunAnswer> {
    const run = await this.runs.start(this.toStart(principal, workflow, start));
    onStart?.(run);
    await run.done;
    return this.agents.answer(principal, run.id);
  }

  /** Starts a workflow in the background: the run is journaled when this resolves. @throws AppError as `run` */
  async submit(
    principal: Principal,
    workflow: string,
    start: WorkflowStart = {},
    also: SubmittedWith = {},
  ): Promise<Pick<RunHandle, 'id' | 'kind'>> {
    const { statements = [], ...made } = this.toStart(principal, workflow, start);
    return this.runs.submit({ ...made, ...also, statements: [...statements, ...(also.statements ?? [])] });
  }

  /** Checks a start without starting a run. @throws AppError as `run`, except those of a full queue */
  async check(principal: Principal, workflow: string, start: WorkflowStart = {}): Promise<void> {
    await this.toStart(principal, workflow, start).check?.();
  }

  /**
   * Validates the input of a run, and applies schema defaults and the content filter.
   * @throws AppError `VALIDATION_FAILED` naming the field, `INPUT_BLOCKED`
   */
  input(graph: WorkflowGraph, value: unknown = {}): Pick<WorkflowRunInput, 'input' | 'masked'> {
    const raw = toJson(value);
    const { input: schema, nodes } = graph.definition;
    const input = schema ? withDefaults(schema, raw) : raw;
    for (const node of nodes) assertSays(graph, node, { input });
    const admitted = admit(this.policies.filter('input'), input, 'input');
    return { input: admitted.value, ...(admitted.masked && { masked: admitted.masked }) };
  }

  /** Applies the content filters to a given output of a node. @throws AppError `INPUT_BLOCKED` */
  output(value: JsonValue): Admitted<JsonValue> {
    const given = admit(this.policies.filter('input'), value, 'edit.output');
    const result = admit(this.policies.filter('results'), given.value, 'edit.output');
    const masked = [...(given.masked ?? []), ...(result.masked ?? [])];
    return { value: result.value, ...(masked.length > 0 && { masked }) };
  }

  private toStart(principal: Principal, workflow: string | RegisteredWorkflow, start: WorkflowStart): StartRun {
    const { graph, content, hash } = typeof workflow === 'string' ? this.workflows.get(workflow) : workflow;
    const { name, limits } = graph.definition;
    const { sessionId = null, priority, deadlineMs, idempotency } = start;
    if (sessionId !== null) assertSessionId(sessionId, 'sessionId');
    const input: WorkflowRunInput = { ...this.input(graph, start.input), isStreaming: true };
    return {
      id: newId(),
      principal,
      kind: WORKFLOW_RUN,
      // Agent names cannot contain a colon.
      agent: `workflow:${name}`,
      sessionId,
      loopVersion: WORKFLOW_VERSION,
      definition: content,
      definitionHash: hash,
      input: JSON.stringify(input),
      question: JSON.stringify(input.input),
      timeoutMs: limits.runTimeoutMs,
      isPatient: true,
      ...(priority !== undefined && { priority }),
      ...(deadlineMs !== undefined && { deadlineAt: Date.now() + deadlineMs }),
      ...(idempotency && { idempotency }),
      ...(sessionId !== null && this.sessions.joining(principal, sessionId)),
    };
  }
}

/** Checks before the start that the prompts and messages of the first nodes are not blank. */
function assertSays({ nodes }: WorkflowGraph, node: NodeDefinition, scope: Scope): void {
  if (nodes.get(node.id)!.incoming.length > 0) return;
  if (node.type === 'llm' && fillText(compileTemplate(node.prompt), scope).trim() === '') {
    throw invalid(
      'input',
      `Prompt is required: node "${node.id}" asks ${JSON.stringify(node.prompt)}, and that is empty`,
      'isNotBlank',
    );
  }
  if (node.type !== 'agent') return;
  const message = node.message === undefined ? inputText(scope) : fillText(compileTemplate(node.message), scope);
  if (message.trim() === '') {
    throw invalid('input', `Message or query is required: node "${node.id}" has nothing to ask`, 'isNotBlank');
  }
}

/** The input with the defaults of the workflow's schema. @throws AppError `VALIDATION_FAILED` naming the field */
function withDefaults(schema: JsonSchema, input: JsonValue): JsonValue {
  const checked = createValueCheck(schema, 'input', 'the schema', true)(input);
  if (!checked.valid) throw invalid('input', checked.reason, 'isInput', input, checked.mistakes);
  return checked.value as JsonValue;
}

function toJson(value: unknown): JsonValue {
  if (!isJsonObject(value)) throw invalid('input', 'it must be an object', 'isObject', value);
  return parseExactJson(JSON.stringify(value)) as JsonValue;
}

/** @param mistakes one entry for each fault, if known */
function invalid(
  field: string,
  message: string,
  rule: string,
  value: unknown = {},
  mistakes?: readonly FieldMistake[],
): AppError {
  return new AppError('VALIDATION_FAILED', `The workflow was not started: ${field}: ${message}.`, {
    details: { errors: mistakes ?? [fieldMistake(field, message, rule, value)] },
  });
}
