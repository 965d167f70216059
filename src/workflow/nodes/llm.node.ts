import type { JsonValue } from '../../kernel/json/index.js';
import type { ModelParameters } from '../../llm/chat/index.js';
import type { NodeInput } from '../definition/node.schema.js';
import type { LlmNodeOptions, LlmNodeOutput } from '../execution/llm-node-call.js';
import { AnsweredNode } from './workflow.node.js';

type LlmInput = Extract<NodeInput, { type: 'llm' }>;

/**
 * Asks a model without tools; outputs `response`, `model`, `usage` and `prompt`. Defaults: temperature 0.7, at most
 * 1,000 tokens, top-p 1, no penalties.
 */
export class LlmNode<const Id extends string> extends AnsweredNode<Id, LlmInput> {
  /** @param prompt may contain placeholders such as `{{input.text}}`; default: the input's `prompt` */
  constructor(id: Id, prompt?: string) {
    super(id, { type: 'llm', ...(prompt !== undefined && { prompt }) });
  }

  setPrompt(prompt: string): this {
    return this.with({ prompt });
  }

  /** System message of the model call. */
  setInstructions(instructions: string): this {
    return this.with({ instructions });
  }

  /** @param name one of the provider's models. @param provider default: the server's own */
  setModel(name: string, provider?: string): this {
    return this.with({ model: { ...this.definition.model, name, ...(provider !== undefined && { provider }) } });
  }

  /** Adds parameters to those already set. */
  setParameters(parameters: ModelParameters): this {
    const { model } = this.definition;
    return this.with({ model: { ...model, parameters: { ...model?.parameters, ...parameters } } });
  }

  /** Format of the answer; its value is `output`. */
  setResponseFormat(responseFormat: NonNullable<LlmInput['responseFormat']>): this {
    return this.with({ responseFormat });
  }

  /** Streams the message, in a child run if other nodes may stream at the same time. */
  streaming(): this {
    return this.with({ streams: true });
  }

  /**
   * Executes the node alone, outside of a workflow and without an application, journal or budgets. Its placeholders are
   * those of the input. Without a `chatModel` each call opens the models of the environment.
   * @param input values for `{{input.…}}`; by default `prompt` is the prompt
   * @throws AppError `VALIDATION_FAILED` for a blank prompt, `WORKFLOW_INVALID`, `CONFIG_INVALID`, `ANSWER_INCOMPLETE`,
   *   `OUTPUT_INVALID`, and the errors of the model
   */
  async execute(input: Readonly<Record<string, JsonValue>> = {}, options: LlmNodeOptions = {}): Promise<LlmNodeOutput> {
    const { callLlmNode } = await import('../execution/llm-node-call.js');
    return callLlmNode(this.toDefinition(), input, options);
  }
}
