import { Injectable } from '@nestjs/common';
import { AppError, messageOf } from '../common/index.js';
import { AppConfig } from '../config/index.js';
import { assertPriced, fitParameters, isCosted, type ModelParameters } from '../llm/index.js';
import type { AgentDefinition } from './agent-definition.schema.js';
import { AgentModelFactory } from './agent-model.factory.js';
import { ModelParameterService } from './model-parameter.service.js';

type Model = AgentDefinition['model'];

/** Fills in what a definition leaves to the server of its model, so that runs do not change with the server. */
@Injectable()
export class ResolvedModelFactory {
  constructor(
    private readonly config: AppConfig,
    private readonly models: AgentModelFactory,
    private readonly parameters: ModelParameterService,
  ) {}

  /**
   * The model by its provider and name, with the parameters that it takes. One of the server's provider without a name is
   * the server's own (`LLM_MODEL`, with `LLM_CAPABILITIES`).
   * @param who whose it is, for errors
   * @throws AppError `AGENT_INVALID` for parameters that it does not take, `CONFIG_INVALID`
   */
  create(given: Model, who: string): Model {
    const model = this.named(given);
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
   * The same of one that says only what is not as the server's own model is.
   * @param defaults parameters that it has where it says nothing; those that it does not take are left out
   */
  complete(given: Partial<Model>, defaults: ModelParameters, who: string): Model {
    const { provider } = this.config.llm;
    const whole: Model = { ...given, provider: given.provider ?? provider, parameters: given.parameters ?? {} };
    const model = this.named(whole);
    const resolved = this.create(model, who);
    this.assertPriced(resolved, who);
    const { taken } = fitParameters(defaults, this.models.create({ model }).capabilities.parameterLimits);
    return { ...resolved, parameters: { ...taken, ...resolved.parameters } };
  }

  /** An agent's model is checked with the agent; this one is not of an agent. */
  private assertPriced(model: Model, who: string): void {
    const { budget, prices } = this.config.llm;
    if (!isCosted(budget)) return;
    try {
      assertPriced(this.models.namesOf({ model }), prices);
    } catch (error) {
      throw new AppError('CONFIG_INVALID', `${who}: ${messageOf(error)}.`);
    }
  }

  private named(model: Model): Model {
    const { provider, model: name, capabilities } = this.config.llm;
    if (model.provider !== provider || model.name !== undefined) return model;
    return { ...(name !== undefined && { name }), ...(capabilities && { capabilities }), ...model };
  }
}
