import { Inject, Injectable } from '@nestjs/common';
import { agentConfig, type AgentConfig } from '../config/namespaces/index.js';
import { AppError, messageOf } from '../errors/index.js';
import { fieldMistake, issueMistakes, type Principal } from '../kernel/index.js';
import type { JsonValue } from '../kernel/json/index.js';
import type { ChatModel, ResponseFormat } from '../llm/chat/index.js';
import { admit, type ContentFilter } from '../security/content/index.js';
import { agentRules, type GivenRules, SecurityPolicies } from '../tool-policy/index.js';
import { type AgentDefinition, modelParametersSchema } from './definition/agent-definition.schema.js';
import { assertClientTools, OfferedTools } from './offered-tools.service.js';
import { AgentModelFactory, withOverrides } from './agent-model.factory.js';
import type { AgentRequest, AgentRunInput, RequestOverrides } from './agent.types.js';
import { assertSeen, readImages } from './given-image.policy.js';
import { ModelParameterService } from './model-parameter.service.js';
import { readFormat } from './answer/response-format.mapper.js';

/** Applies content filters to the texts of one request, and collects the kinds of masked content. */
export class InputScreen {
  private readonly found = new Set<string>();

  constructor(private readonly filters: readonly (ContentFilter | null)[]) {}

  /** For the input of a run: the kinds of masked content, if any. */
  get masked(): { readonly masked?: readonly string[] } {
    return this.found.size > 0 ? { masked: [...this.found] } : {};
  }

  /** @param what name of the text in the error. @throws AppError `INPUT_BLOCKED` */
  admit<T extends JsonValue>(content: T, what: string, filters = this.filters): T {
    let admitted = content;
    for (const filter of filters) {
      const { value, masked = [] } = admit(filter, admitted, what);
      for (const kind of masked) this.found.add(kind);
      admitted = value;
    }
    return admitted;
  }
}

const WANTED = [
  'model',
  'parameters',
  'toolChoice',
  'responseFormat',
  'images',
] as const satisfies (keyof AgentRequest)[];

/** The texts of a request that a model receives. */
type RequestTexts = Partial<Pick<AgentRunInput, 'query' | 'responseFormat' | 'parameters' | 'conversation'>>;

/** Checks the options of an agent request before the run is journaled. */
@Injectable()
export class AgentRequestService {
  constructor(
    @Inject(agentConfig.KEY) private readonly config: AgentConfig,
    private readonly models: AgentModelFactory,
    private readonly parameters: ModelParameterService,
    private readonly tools: OfferedTools,
    private readonly policies: SecurityPolicies,
  ) {}

  /**
   * The input of the run of a request.
   * @throws AppError `VALIDATION_FAILED`, `INPUT_BLOCKED`, and the errors of `changes`
   */
  input(principal: Principal, definition: AgentDefinition, request: AgentRequest): AgentRunInput {
    const { query, isStreaming = false, isTainted, metadata, references, conversation, clientTools = [] } = request;
    const { budgetTokens } = request;
    assertSays(query);
    assertClientTools(clientTools);
    const changes = this.changes(principal, definition, request);
    return {
      ...this.screen({ query, ...changes, ...(conversation && { conversation }) }, definition),
      isStreaming,
      isNewSession: request.sessionId === undefined,
      ...(isTainted && { isTainted }),
      ...(metadata && { metadata }),
      ...(budgetTokens !== undefined && { budgetTokens }),
      ...(references && { references }),
      ...(clientTools.length > 0 && { clientTools }),
    };
  }

  /**
   * Applies the content filter to the texts of a request that a model receives, before they are stored.
   * @throws AppError `INPUT_BLOCKED` with the kinds of content found, never the content; `VALIDATION_FAILED` if the mask
   *   makes the format invalid
   */
  screen<T extends RequestTexts>(texts: T, definition: GivenRules): T & Pick<AgentRunInput, 'masked'> {
    const screen = new InputScreen([this.policies.filter('input', agentRules(definition))]);
    const { query, responseFormat, parameters, conversation } = texts;
    const format = responseFormat && screen.admit(responseFormat as JsonValue, 'responseFormat');
    const stop = parameters?.stop && screen.admit([...parameters.stop], 'parameters.stop');
    return {
      ...texts,
      ...(query !== undefined && { query: screen.admit(query, 'query') }),
      ...(format !== responseFormat && { responseFormat: checkedFormat(format) }),
      ...(stop && { parameters: { ...parameters, stop } }),
      ...(conversation && {
        conversation: screen.admit(conversation as unknown as JsonValue, 'messages') as unknown as typeof conversation,
      }),
      ...screen.masked,
    };
  }

  /** Waits for tools that `toolChoice` may select and that are still being registered. */
  async arrived({ tools }: AgentDefinition, { toolChoice }: AgentRequest): Promise<void> {
    if (toolChoice === 'required') await this.tools.arrived(tools);
    else if (typeof toolChoice === 'object') await this.tools.arrived([toolChoice.name]);
  }

  /** Waits for the agent's tools that are still being registered: `run.started` reports those that are missing. */
  async ready(definition: AgentDefinition): Promise<void> {
    await this.tools.ready(definition);
  }

  /**
   * Validates the request's overrides of the agent's definition.
   * @throws AppError `VALIDATION_FAILED` naming the field, `MODEL_NOT_ALLOWED`, `MODEL_CANNOT_SEE`,
   *   `MODEL_CANNOT_FORMAT`
   */
  changes(principal: Principal, definition: AgentDefinition, request: AgentRequest): RequestOverrides {
    const overrides = WANTED.some((field) => request[field] !== undefined)
      ? this.wanted(principal, definition, request)
      : {};
    this.assertFormattable(definition, overrides);
    return overrides;
  }

  /** @throws AppError `MODEL_CANNOT_FORMAT` when the answer has a format that the model does not support */
  assertFormattable(definition: AgentDefinition, overrides: RequestOverrides): void {
    const format = overrides.responseFormat ?? definition.responseFormat;
    if (format !== undefined) assertFormattable(this.models.create(withOverrides(definition, overrides)));
  }

  private wanted(principal: Principal, definition: AgentDefinition, request: AgentRequest): RequestOverrides {
    const { model, parameters, toolChoice, responseFormat, images = [], clientTools = [] } = request;
    const shown = readImages(images, this.config.maxImageBytes);
    if (toolChoice !== undefined) this.assertChoosable(principal, definition, { toolChoice, clientTools });
    const modelOverrides = model === undefined ? {} : this.modelChanges(definition, model);
    const chosen = this.models.create(withOverrides(definition, modelOverrides));
    assertSeen(shown, chosen);
    return {
      ...modelOverrides,
      ...(parameters !== undefined && { parameters: this.checked(chosen, parameters, request.isLenient) }),
      ...(toolChoice !== undefined && { toolChoice }),
      ...(responseFormat !== undefined && { responseFormat: checkedFormat(responseFormat) }),
      ...(shown.length > 0 && { images: shown.map(({ url }) => ({ url })) }),
    };
  }

  private modelChanges(definition: AgentDefinition, text: string): Pick<RequestOverrides, 'model' | 'protocol'> {
    const model = this.models.parse(text, definition.model.provider);
    if (!model) {
      throw invalid('model', 'it must be a name, or a provider’s and a name: "provider:name"', 'isModel', text);
    }
    let made: ChatModel;
    try {
      made = this.models.create(withOverrides(definition, { model }));
    } catch (error) {
      throw invalid('model', messageOf(error), 'isModel', text);
    }
    if (made.name !== model.name || made.provider !== model.provider) {
      const message = `"${text}" is not available; the only model of this application is "${made.name}" (provider ${made.provider})`;
      throw invalid('model', message, 'isModel', text);
    }
    this.models.assertAllowed(made, definition);
    const isLost = definition.protocol === 'native' && !made.capabilities.functionCalling;
    return { model, ...(isLost && { protocol: 'react' }) };
  }

  private checked(
    model: ChatModel,
    parameters: unknown,
    isLenient = false,
  ): NonNullable<RequestOverrides['parameters']> {
    const parsed = modelParametersSchema.safeParse(parameters);
    if (!parsed.success) {
      const errors = issueMistakes(parsed.error.issues, parameters, 'parameters.');
      const detail = errors.map(({ field, message }) => `${field}: ${message}`).join('; ');
      throw new AppError('VALIDATION_FAILED', `The request is not valid: ${detail}.`, { details: { errors } });
    }
    const { taken, faults } = this.parameters.fit(model, parsed.data);
    const [fault] = faults;
    if (fault && !isLenient) {
      const parameter = (parameters as Record<string, unknown>)[fault.name];
      throw invalid(`parameters.${fault.name}`, fault.message, 'isTaken', parameter);
    }
    return taken;
  }

  private assertChoosable(
    principal: Principal,
    definition: AgentDefinition,
    { toolChoice: choice, clientTools }: Required<Pick<AgentRequest, 'toolChoice' | 'clientTools'>>,
  ): void {
    if (choice === 'auto' || choice === 'none') return;
    const { allowed } = this.tools.listed(definition, principal);
    const names = [...allowed.map((tool) => tool.definition.name), ...clientTools.map(({ name }) => name)];
    if (names.length === 0) {
      throw invalid('toolChoice', `the agent "${definition.name}" has no tools`, 'isTool', choice);
    }
    if (typeof choice === 'object' && !names.includes(choice.name)) {
      const message = `the agent "${definition.name}" has no tool "${choice.name}"`;
      throw invalid('toolChoice.name', message, 'isTool', choice.name);
    }
  }
}

/** @throws AppError `MODEL_CANNOT_FORMAT` when the model does not support structured output */
function assertFormattable({ provider, name: model, capabilities }: ChatModel): void {
  if (capabilities.structuredOutput !== false) return;
  const message = `The model "${model}" of the provider ${provider} does not support responseFormat: omit it, or configure another model (LLM_PROVIDER and its key).`;
  throw new AppError('MODEL_CANNOT_FORMAT', message, { details: { provider, model } });
}

function checkedFormat(declared: unknown): ResponseFormat {
  const read = readFormat(declared);
  if ('problem' in read) {
    const { at, problem } = read;
    const value = at === undefined ? declared : (declared as Record<string, unknown>)[at];
    throw invalid(at === undefined ? 'responseFormat' : `responseFormat.${at}`, problem, 'isFormat', value);
  }
  return read.format;
}

function invalid(field: string, message: string, rule: string, value: unknown): AppError {
  const fault = message.replace(/\.$/, '');
  return new AppError('VALIDATION_FAILED', `The request is not valid: ${field}: ${fault}.`, {
    details: { errors: [fieldMistake(field, fault, rule, value)] },
  });
}

/** Models reject blank messages. */
function assertSays(query: string): void {
  // Untyped callers may omit it.
  if (typeof query === 'string' && query.trim() !== '') return;
  throw new AppError('VALIDATION_FAILED', 'The query must not be blank.', {
    details: { errors: [fieldMistake('query', 'must not be blank', 'isNotBlank', query)] },
  });
}
