import { ModelParameterService } from './model-parameter.service.js';
import { Inject, Injectable } from '@nestjs/common';
import { llmConfig, type LlmConfig } from '../config/namespaces/index.js';
import { AppError, messageOf } from '../errors/index.js';
import { fitParameters } from '../llm/index.js';
import type { ModelParameters } from '../llm/chat/index.js';
import { assertPriced, isCosted } from '../llm/models/index.js';
import type { AgentDefinition } from './definition/agent-definition.schema.js';
import { AgentModelFactory } from './agent-model.factory.js';

type Model = AgentDefinition['model'];

/** Resolves omitted model settings from the server's configuration, so that later changes do not affect runs. */
@Injectable()
export class ResolvedModelFactory {
  constructor(
    @Inject(llmConfig.KEY) private readonly config: LlmConfig,
    private readonly models: AgentModelFactory,
    private readonly parameters: ModelParameterService,
  ) {}

  /**
   * Resolves provider, name and supported parameters. The server's provider without a name means the server's own model
   * (`LLM_MODEL`, with `LLM_CAPABILITIES`).
   * @param who the owner of the model, for error messages
   * @throws AppError `AGENT_INVALID` for unsupported parameters, `CONFIG_INVALID`
   */
  create(declared: Model, who: string): Model {
    const model = this.named(declared);
    const made = this.models.create({ model });
    const { taken, faults } = this.parameters.fit(made, model.parameters);
    if (faults.length > 0) {
      const what = faults.map(({ message }) => message).join(', ');
      const todo = 'leave it out (LLM_…), choose another model, or set LLM_UNSUPPORTED_PARAMETERS=drop';
      throw new AppError('AGENT_INVALID', `${who}: ${what}: ${todo}.`);
    }
    return { ...model, name: model.name ?? made.name, parameters: taken };
  }

  /**
   * The same for a model that names only its differences from the server's own model.
   * @param defaults default parameters; unsupported ones are dropped
   */
  complete(settings: Partial<Model>, defaults: ModelParameters, who: string): Model {
    const { provider } = this.config;
    const whole: Model = {
      ...settings,
      provider: settings.provider ?? provider,
      parameters: settings.parameters ?? {},
    };
    const model = this.named(whole);
    const resolved = this.create(model, who);
    this.assertPriced(resolved, who);
    const { taken } = fitParameters(defaults, this.models.create({ model }).capabilities.parameterLimits);
    return { ...resolved, parameters: { ...taken, ...resolved.parameters } };
  }

  /** Checks the price here, because the check of agents does not cover this model. */
  private assertPriced(model: Model, who: string): void {
    if (!isCosted(this.config.budget)) return;
    try {
      assertPriced(this.models.namesOf({ model }), this.config);
    } catch (error) {
      throw new AppError('CONFIG_INVALID', `${who}: ${messageOf(error)}.`);
    }
  }

  private named(model: Model): Model {
    const { provider, model: name, capabilities } = this.config;
    if (model.provider !== provider || model.name !== undefined) return model;
    return { ...(name !== undefined && { name }), ...(capabilities && { capabilities }), ...model };
  }
}
