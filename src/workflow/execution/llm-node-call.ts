import { AppError, type ErrorCode } from '../../errors/index.js';
import type { JsonValue } from '../../kernel/json/index.js';
import { ChatApiModel, fitParameters, openModels } from '../../llm/index.js';
import type { ChatModel, ChatResult, ModelParameters } from '../../llm/chat/index.js';
import { enhance, parseOutput, useOutcome } from '../../reasoning/index.js';
import { NO_USAGE, type RunUsage } from '../../run/event/index.js';
import { toRunUsage } from '../../run/usage/index.js';
import type { DefinedNode, NodeInput } from '../definition/node.schema.js';
import { createGraph } from '../graph/workflow-graph.factory.js';
import { defaultedParameters, LLM_DEFAULTS } from '../resolved-work.factory.js';
import { compileTemplate, fillText } from '../template/template.parser.js';
import { parseWorkflow } from '../workflow.registry.js';

/** Options of `LlmNode.execute`. */
export interface LlmNodeOptions {
  /** The model to call, for a node that names none; by default the node's model, or that of the environment. */
  readonly chatModel?: ChatModel;
  readonly signal?: AbortSignal;
}

/** The output of an llm node, as in a workflow. */
export interface LlmNodeOutput {
  readonly response: string;
  /** Value of the answer, if the node has a format. */
  readonly output?: unknown;
  readonly model: string;
  readonly usage: RunUsage;
  readonly prompt: string;
  readonly finish_reason: ChatResult['finishReason'];
  readonly is_complete: boolean;
}

type LlmDefinition = DefinedNode<'llm'>;

/** Rounds of corrections of an answer with a format. */
const CORRECTIONS = 2;

/**
 * Executes an llm node outside of a workflow.
 * @param given the node as declared
 * @throws AppError `WORKFLOW_INVALID`, `VALIDATION_FAILED` without a prompt, `CONFIG_INVALID`, `ANSWER_INCOMPLETE`,
 *   `OUTPUT_INVALID`, and errors of the model
 */
export async function callLlmNode(
  given: NodeInput,
  input: Readonly<Record<string, JsonValue>>,
  options: LlmNodeOptions,
): Promise<LlmNodeOutput> {
  const { chatModel, signal, ...unknown } = options;
  const [other] = Object.keys(unknown);
  if (other !== undefined) {
    throw new AppError('VALIDATION_FAILED', `LlmNode.execute(): unknown option ${other} (known: chatModel, signal).`);
  }
  const node = lone(given);
  const prompt = fillText(compileTemplate(node.prompt), { input });
  if (prompt.trim() === '') throw new AppError('VALIDATION_FAILED', 'Prompt is required');
  const instructions = fillText(compileTemplate(node.instructions), { input });
  return withModel(node, chatModel, async (model) => {
    const parameters = parametersOf(node, model);
    const result = await enhance(new ChatApiModel(model), () => [], { maxDepth: CORRECTIONS }).generate(
      {
        messages: [
          ...(instructions.trim() === '' ? [] : [{ role: 'system' as const, content: instructions }]),
          { role: 'user', content: prompt },
        ],
        parameters,
        optionalParameters: defaultedParameters(parameters),
        ...(node.responseFormat !== undefined && { responseFormat: node.responseFormat }),
      },
      signal && { signal },
    );
    assertWhole(node, model, result);
    return toOutput(node, prompt, result);
  });
}

/** @throws AppError `WORKFLOW_INVALID` for an invalid node, and for fields that need a workflow */
function lone(given: NodeInput): LlmDefinition {
  const workflow = parseWorkflow({ name: 'node', nodes: [given] }, 'LlmNode.execute()');
  createGraph(workflow);
  const node = workflow.nodes[0] as LlmDefinition;
  if (node.retry !== undefined || node.streams) {
    const field = node.streams ? 'streaming()' : 'withRetry()';
    const message = `LlmNode.execute(): ${field} of "${node.id}" applies in a workflow only: remove it; LLM_MAX_ATTEMPTS repeats failed calls.`;
    throw new AppError('WORKFLOW_INVALID', message);
  }
  return node;
}

async function withModel<T>(
  { id, model: { provider, name, parameters: _own, ...rest } }: LlmDefinition,
  chatModel: ChatModel | undefined,
  call: (model: ChatModel) => Promise<T>,
): Promise<T> {
  if (chatModel) {
    if (provider === undefined && name === undefined && Object.keys(rest).length === 0) return call(chatModel);
    throw new AppError(
      'WORKFLOW_INVALID',
      `LlmNode.execute(): "${id}" names a model, and so does chatModel: give one.`,
    );
  }
  const models = await openModels();
  try {
    const { fallback, maxAttempts, capabilities } = rest;
    return await call(
      models.create({
        ...(provider !== undefined && { provider }),
        ...(name !== undefined && { model: name }),
        ...(maxAttempts !== undefined && { maxAttempts }),
        ...(capabilities && { capabilities }),
        ...(fallback && { fallback: fallback.map((one) => ({ provider: one.provider, model: one.name })) }),
      }),
    );
  } finally {
    await models.close();
  }
}

/** The node's parameters and the supported defaults. @throws AppError `CONFIG_INVALID` for an unsupported one of the node */
function parametersOf({ id, model: { parameters } }: LlmDefinition, model: ChatModel): ModelParameters {
  const { parameterLimits } = model.capabilities;
  const { taken, refused } = fitParameters(parameters, parameterLimits);
  const [first] = refused;
  if (first) {
    const message = `LlmNode.execute(): the model ${model.name} of ${model.provider} takes ${first.reason}: remove ${first.name} from "${id}".`;
    throw new AppError('CONFIG_INVALID', message);
  }
  return { ...fitParameters(LLM_DEFAULTS, parameterLimits).taken, ...taken };
}

/** @throws AppError `ANSWER_INCOMPLETE`, unless the node accepts it */
function assertWhole({ onIncomplete }: LlmDefinition, model: ChatModel, { finishReason }: ChatResult): void {
  const finish_reason = finishReason === 'tool_calls' ? 'stop' : finishReason;
  const use = useOutcome({ finish_reason, subject: `The model "${model.name}"` }, onIncomplete);
  if (use.kind !== 'failed') return;
  const { code, message, details } = use.failure;
  throw new AppError(code as ErrorCode, message, details && { details });
}

async function toOutput(node: LlmDefinition, prompt: string, result: ChatResult): Promise<LlmNodeOutput> {
  const { message, model, finishReason, usage } = result;
  const format = node.responseFormat;
  const parsed = format !== undefined && finishReason === 'stop' ? await parseOutput(message.content, format) : null;
  return {
    response: message.content,
    ...(parsed?.kind === 'valid' && { output: parsed.value }),
    model,
    usage: usage ? toRunUsage(usage) : NO_USAGE,
    prompt,
    finish_reason: finishReason,
    is_complete: finishReason === 'stop',
  };
}
