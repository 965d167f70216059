import { Injectable } from '@nestjs/common';
import type { JsonValue } from '../../kernel/json/index.js';
import { AgentModelFactory } from '../../agent/index.js';
import type { AgentDefinitionInput } from '../../agent/definition/index.js';
import { ReasoningEngine, type ReasoningOutcome } from '../../reasoning/index.js';
import type { Work } from '../definition/node.schema.js';
import { ChatApiModel } from '../../llm/index.js';
import type { ModelParameters } from '../../llm/chat/index.js';
import { compileTemplate, fillText } from '../template/template.parser.js';
import { defaultedParameters } from '../resolved-work.factory.js';
import { ChildAgentExecutor } from './child-agent.executor.js';
import { answeredNode, failedNode, type NodeAnswer, withFacts } from './node-outcome.factory.js';
import { NodeRunContext } from './node-run-context.js';
import type { NodeDone, NodeOutcome, NodeTask, WorkExecutor } from './node-task.types.js';

type Ended = Extract<ReasoningOutcome, { kind: 'ended' }>;

/** One model call; without tools, the limit of results has no effect. */
const ONE_REPLY = { maxIterations: 1, maxResultBytes: 65_536 };
/** Allows two corrections of an answer with a format. */
const CORRECTED_REPLY = { ...ONE_REPLY, maxIterations: 3 };

/** Executes llm nodes: asks a model without tools. */
@Injectable()
export class LlmNodeExecutor implements WorkExecutor<Work<'llm'>> {
  constructor(
    private readonly engine: ReasoningEngine,
    private readonly models: AgentModelFactory,
    private readonly agents: ChildAgentExecutor,
  ) {}

  async execute(work: Work<'llm'>, task: NodeTask): Promise<NodeOutcome> {
    const prompt = fillText(compileTemplate(work.prompt), task.scope);
    if (prompt.trim() === '') return failedNode('VALIDATION_FAILED', 'Prompt is required');
    const { maxOutputBytes } = task.workflow.limits;
    if (Buffer.byteLength(JSON.stringify(prompt)) > maxOutputBytes) return promptTooLarge(maxOutputBytes);
    const instructions = fillText(compileTemplate(work.instructions), task.scope);
    if (work.streams && !task.isStreaming) return this.inRun({ ...work, instructions }, prompt, task);
    const { facts, isStreaming } = task;
    const model = resolved(work);
    const outcome = await this.engine.run(
      {
        agent: null,
        instructions,
        history: [],
        input: { role: 'user', content: prompt },
        model: new ChatApiModel(this.models.create({ model })),
        parameters: model.parameters,
        optionalParameters: defaultedParameters(model.parameters),
        protocol: 'native',
        tools: [],
        facts,
        ...(work.responseFormat !== undefined && { responseFormat: work.responseFormat }),
        limits: limitsOf(work),
        isStreaming,
      },
      new NodeRunContext(task),
    );
    if (outcome.kind === 'postponed') return { status: 'waiting', requests: [], outage: outcome.outage };
    if (outcome.kind === 'waiting') return { status: 'waiting', requests: outcome.requests };
    return toOutcome(outcome, { work, prompt, task });
  }

  /** Executes the node in a child run, which clients can follow separately. */
  private async inRun(work: Work<'llm'>, prompt: string, task: NodeTask): Promise<NodeOutcome> {
    const { workflow, number } = task;
    const definition: AgentDefinitionInput = {
      name: `${workflow.name.slice(0, 48)}_${number}`,
      ...(work.instructions.trim() !== '' && { instructions: work.instructions }),
      model: resolved(work),
      tools: [],
      memory: { enabled: false, maxMessages: 50, maxContextTokens: 4000 },
      limits: limitsOf(work),
      ...(work.responseFormat !== undefined && { responseFormat: work.responseFormat }),
    };
    const outcome = await this.agents.ask(
      {
        name: definition.name,
        query: prompt,
        definition,
        isStreaming: true,
        optionalParameters: defaultedParameters(resolved(work).parameters),
        ...answerOf(work),
      },
      task,
    );
    if (outcome.status !== 'completed') return outcome;
    const { memory_state: _none, ...output } = outcome.output as { [field: string]: JsonValue };
    return { ...outcome, output: { ...output, prompt } };
  }
}

function limitsOf({ responseFormat }: Work<'llm'>): typeof ONE_REPLY {
  return responseFormat === undefined ? ONE_REPLY : CORRECTED_REPLY;
}

/** The model, as resolved by the registry. */
function resolved({ model }: Work<'llm'>): AgentDefinitionInput['model'] & { provider: string; parameters: object } {
  return { ...model, provider: model.provider! };
}

/** The output contains the prompt: this check avoids a failure after a paid model call. */
function promptTooLarge(limit: number): NodeOutcome {
  const message = `Its prompt alone is larger than limits.maxOutputBytes (${limit}): give it a shorter prompt, or raise the limit.`;
  return failedNode('NODE_OUTPUT_TOO_LARGE', message);
}

/** How the node handles an incomplete answer, and the setting that limits the answer. */
function answerOf(work: Work<'llm'>): Omit<NodeAnswer, 'finish_reason'> {
  const { name, parameters } = resolved(work);
  const { maxTokens } = parameters as ModelParameters;
  const limit = maxTokens === undefined ? '' : ` (${maxTokens})`;
  return {
    onIncomplete: work.onIncomplete,
    subject: `The model "${name}"`,
    settings: { length: `"model.parameters.maxTokens"${limit} of the node` },
  };
}

interface SingleCall {
  readonly work: Work<'llm'>;
  readonly prompt: string;
  readonly task: NodeTask;
}

function toOutcome(ended: Ended, { work, prompt, task }: SingleCall): NodeOutcome {
  const { text, usage, model, iterations, failure, finishReason, facts } = ended;
  const cost = { usage, model_calls: iterations };
  if (failure) return { status: 'failed', error: failure, ...cost, ...withFacts(facts) };
  if (finishReason === 'cancelled') return failedNode('RUN_CANCELLED', 'It was cancelled.', cost);
  const output: JsonValue = {
    response: text,
    ...('output' in ended && { output: ended.output as JsonValue }),
    model,
    usage: { ...usage },
    prompt,
    finish_reason: finishReason,
    is_complete: finishReason === 'stop',
  };
  const done: NodeDone = { status: 'completed', output, ...cost, ...withFacts(facts) };
  return answeredNode({ ...answerOf(work), finish_reason: finishReason }, done, task);
}
