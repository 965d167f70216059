import { Injectable } from '@nestjs/common';
import { AppError, messageOf } from '../common/index.js';
import { AppConfig } from '../config/index.js';
import type { ChatModel, ResponseFormat, ToolChoice } from '../llm/index.js';
import { ToolRegistry } from '../tool/index.js';
import { modelParametersSchema, type AgentDefinition } from './agent-definition.schema.js';
import { AgentModelFactory } from './agent-model.factory.js';
import type { AgentRequest, AskedChanges } from './agent.types.js';
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
    private readonly tools: ToolRegistry,
  ) {}

  /**
   * What is otherwise in the request's run than the agent's definition says.
   * @throws AppError `VALIDATION_FAILED` naming the field, `MODEL_CANNOT_SEE`
   */
  changes(definition: AgentDefinition, request: AgentRequest): AskedChanges {
    const { model, parameters, toolChoice, responseFormat, images = [] } = request;
    if (!WANTED.some((field) => request[field] !== undefined)) return {};
    assertImages(images, this.config.agent.maxImageBytes);
    if (toolChoice !== undefined) this.assertChoosable(definition, toolChoice);
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

  private assertChoosable(definition: AgentDefinition, choice: ToolChoice): void {
    if (choice === 'auto' || choice === 'none') return;
    const names = this.tools.available(definition.tools).map((tool) => tool.definition.name);
    if (names.length === 0) throw invalid('toolChoice', `the agent "${definition.name}" has no tools`);
    if (typeof choice === 'object' && !names.includes(choice.name)) {
      throw invalid('toolChoice.name', `the agent "${definition.name}" has no tool "${choice.name}"`);
    }
  }
}

function checkedFormat(given: unknown): ResponseFormat {
  const read = readFormat(given);
  if ('problem' in read) throw invalid('responseFormat', read.problem);
  return read.format;
}

function invalid(field: string, message: string): AppError {
  return new AppError('VALIDATION_FAILED', `The request is not valid: ${field}: ${message}.`, {
    details: { errors: [{ field, message }] },
  });
}
