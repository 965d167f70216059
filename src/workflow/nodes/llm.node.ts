import type { ModelParameters } from '../../llm/index.js';
import type { NodeInput } from '../definition/node.schema.js';
import { AnsweredNode } from './workflow.node.js';

type LlmInput = Extract<NodeInput, { type: 'llm' }>;

/**
 * Asks a model once, without tools: gives `response`, `model`, `usage` and `prompt`. By default with temperature 0.7, 1,000
 * tokens, top-p 1 and no penalties.
 */
export class LlmNode<const Id extends string> extends AnsweredNode<Id, LlmInput> {
  /** @param prompt with places such as `{{input.text}}`; the input's `prompt` when left out */
  constructor(id: Id, prompt?: string) {
    super(id, { type: 'llm', ...(prompt !== undefined && { prompt }) });
  }

  setPrompt(prompt: string): this {
    return this.with({ prompt });
  }

  /** What the model is told beside the prompt. */
  setInstructions(instructions: string): this {
    return this.with({ instructions });
  }

  /** @param name of the provider's models. @param provider the server's own when left out */
  setModel(name: string, provider?: string): this {
    return this.with({ model: { ...this.definition.model, name, ...(provider !== undefined && { provider }) } });
  }

  /** Adds to those that it has. */
  setParameters(parameters: ModelParameters): this {
    const { model } = this.definition;
    return this.with({ model: { ...model, parameters: { ...model?.parameters, ...parameters } } });
  }

  /** What the answer must be; its value is `output`. */
  setResponseFormat(responseFormat: NonNullable<LlmInput['responseFormat']>): this {
    return this.with({ responseFormat });
  }

  /** Its message can be followed as it comes though another model may speak at the same time: it is a run of its own then. */
  streaming(): this {
    return this.with({ streams: true });
  }
}
