import { Injectable } from '@nestjs/common';
import { AppError, messageOf, type Principal } from '../common/index.js';
import { AppConfig } from '../config/index.js';
import type { ChatModel, ResponseFormat, ToolChoice } from '../llm/index.js';
import { agentRules, SecurityPolicies, type GivenRules } from '../tool/index.js';
import { modelParametersSchema, type AgentDefinition } from './agent-definition.schema.js';
import { AgentModelFactory } from './agent-model.factory.js';
import { OfferedTools } from './offered-tools.service.js';
import type { AgentRequest, AgentRunInput, AskedChanges } from './agent.types.js';
import { assertImages, assertSeen } from './given-image.policy.js';
import { asAsked } from './asked-agent.mapper.js';
import { readFormat } from './response-format.mapper.js';
import { ModelParameterService } from './model-parameter.service.js';

const WANTED = [
  'model',
  'parameters',
  'toolChoice',
  'responseFormat',
  'images',
] as const satisfies (keyof AgentRequest)[];

/** Checks what a request wants of an agent, before anything of it is journaled. */
@Injectable()
export class AgentRequestService {
  constructor(
    private readonly config: AppConfig,
    private readonly models: AgentModelFactory,
    private readonly parameters: ModelParameterService,
    private readonly tools: OfferedTools,
    private readonly policies: SecurityPolicies,
  ) {}

  /**
   * What a user says to an agent, as it may be kept and shown to a model.
   * @throws AppError `INPUT_BLOCKED` naming what kinds of content are in it, never the content
   */
  screen(query: string, definition: GivenRules): Pick<AgentRunInput, 'query' | 'masked'> {
    const filtered = this.policies.filter('input', agentRules(definition))?.text(query) ?? { kind: 'clean' };
    switch (filtered.kind) {
      case 'clean':
        return { query };
      case 'masked':
        return { query: filtered.value, masked: filtered.names };
      case 'blocked':
        throw blocked(filtered.names);
    }
  }

  /** Waits for the tools that the model has to choose from, as far as they are just coming. */
  async arrived({ tools }: AgentDefinition, { toolChoice }: AgentRequest): Promise<void> {
    if (toolChoice === 'required') await this.tools.arrived(tools);
    else if (typeof toolChoice === 'object') await this.tools.arrived([toolChoice.name]);
  }

  /**
   * What is otherwise in the request's run than the agent's definition says.
   * @throws AppError `VALIDATION_FAILED` naming the field, `MODEL_NOT_ALLOWED`, `MODEL_CANNOT_SEE`, `MODEL_CANNOT_FORMAT`
   */
  changes(principal: Principal, definition: AgentDefinition, request: AgentRequest): AskedChanges {
    const asked = WANTED.some((field) => request[field] !== undefined)
      ? this.wanted(principal, definition, request)
      : {};
    const format = asked.responseFormat ?? definition.responseFormat;
    if (format !== undefined) assertFormattable(this.models.create(asAsked(definition, asked)));
    return asked;
  }

  private wanted(principal: Principal, definition: AgentDefinition, request: AgentRequest): AskedChanges {
    const { model, parameters, toolChoice, responseFormat, images = [] } = request;
    assertImages(images, this.config.agent.maxImageBytes);
    if (toolChoice !== undefined) this.assertChoosable(principal, definition, toolChoice);
    const asked = model === undefined ? {} : this.modelChanges(definition, model);
    const chosen = this.models.create(asAsked(definition, asked));
    assertSeen(images, chosen);
    return {
      ...asked,
      ...(parameters !== undefined && { parameters: this.checked(chosen, parameters) }),
      ...(toolChoice !== undefined && { toolChoice }),
      ...(responseFormat !== undefined && { responseFormat: checkedFormat(responseFormat) }),
      ...(images.length > 0 && { images: images.map(({ url }) => ({ url })) }),
    };
  }

  private modelChanges(definition: AgentDefinition, text: string): Pick<AskedChanges, 'model' | 'protocol'> {
    const model = this.models.parse(text, definition.model.provider);
    if (!model) throw invalid('model', 'it must be a name, or a provider’s and a name: "provider:name"');
    let made: ChatModel;
    try {
      made = this.models.create(asAsked(definition, { model }));
    } catch (error) {
      throw invalid('model', messageOf(error));
    }
    if (made.name !== model.name || made.provider !== model.provider) {
      throw invalid('model', `this application has the model "${made.name}" of ${made.provider}, and no other`);
    }
    this.models.assertAllowed(made, definition);
    const isLost = definition.protocol === 'native' && !made.capabilities.functionCalling;
    return { model, ...(isLost && { protocol: 'react' }) };
  }

  private checked(model: ChatModel, parameters: unknown): NonNullable<AskedChanges['parameters']> {
    const parsed = modelParametersSchema.safeParse(parameters);
    if (!parsed.success) {
      const [issue] = parsed.error.issues;
      throw invalid(['parameters', ...(issue?.path ?? [])].join('.'), issue?.message ?? 'they are wrong');
    }
    const { taken, faults } = this.parameters.fit(model, parsed.data);
    if (faults[0]) throw invalid(`parameters.${faults[0].name}`, faults[0].message);
    return taken;
  }

  private assertChoosable(principal: Principal, definition: AgentDefinition, choice: ToolChoice): void {
    if (choice === 'auto' || choice === 'none') return;
    const { allowed } = this.tools.listed(definition, principal);
    const names = allowed.map((tool) => tool.definition.name);
    if (names.length === 0) throw invalid('toolChoice', `the agent "${definition.name}" has no tools`);
    if (typeof choice === 'object' && !names.includes(choice.name)) {
      throw invalid('toolChoice.name', `the agent "${definition.name}" has no tool "${choice.name}"`);
    }
  }
}

/** @throws AppError `MODEL_CANNOT_FORMAT` when no answer of the model could have a format */
function assertFormattable({ provider, name: model, capabilities }: ChatModel): void {
  if (capabilities.structuredOutput !== false) return;
  const message = `The model ${model} of ${provider} cannot give its answer a format: ask without responseFormat, or set a model that can (LLM_PROVIDER and its key).`;
  throw new AppError('MODEL_CANNOT_FORMAT', message, { details: { provider, model } });
}

function checkedFormat(given: unknown): ResponseFormat {
  const read = readFormat(given);
  if ('problem' in read) throw invalid('responseFormat', read.problem);
  return read.format;
}

function blocked(names: readonly string[]): AppError {
  const what = names.join(', ');
  return new AppError('INPUT_BLOCKED', `The query was not taken: it holds ${what}. Leave that out and ask again.`, {
    details: { found: names },
  });
}

function invalid(field: string, message: string): AppError {
  return new AppError('VALIDATION_FAILED', `The request is not valid: ${field}: ${message}.`, {
    details: { errors: [{ field, message }] },
  });
}
