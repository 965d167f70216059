import { Inject, Injectable } from '@nestjs/common';
import { Log } from '../errors/index.js';
import { llmConfig, type LlmConfig } from '../config/namespaces/index.js';
import { fitParameters } from '../llm/index.js';
import type { ChatModel, ModelParameters, ParameterName } from '../llm/chat/index.js';

/** A parameter that its model does not support. */
export interface ParameterFault {
  readonly name: ParameterName;
  readonly message: string;
}

/** Refuses or drops parameters that a model does not support, as `LLM_UNSUPPORTED_PARAMETERS` says. */
@Injectable()
export class ModelParameterService {
  private readonly logger = new Log(ModelParameterService.name);
  private readonly warned = new Set<string>();

  constructor(@Inject(llmConfig.KEY) private readonly config: LlmConfig) {}

  /**
   * Splits parameters into supported ones and faults. With `drop` there are no faults; each different message is logged
   * once.
   */
  fit(
    model: ChatModel,
    parameters: ModelParameters,
  ): { readonly taken: ModelParameters; readonly faults: readonly ParameterFault[] } {
    const { taken, refused } = fitParameters(parameters, model.capabilities.parameterLimits);
    const who = `the model ${model.name} of ${model.provider}`;
    const faults = refused.map(({ name, reason }) => ({ name, message: `${who} takes ${reason}` }));
    if (this.config.unsupportedParameters === 'refuse') return { taken, faults };
    for (const { message } of faults) this.warn(message);
    return { taken, faults: [] };
  }

  private warn(message: string): void {
    if (this.warned.has(message)) return;
    this.warned.add(message);
    this.logger.warn(`${message}: it is left out of its requests`);
  }
}
