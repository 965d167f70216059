import { fitParameters, type ChatModel, type ModelParameters, type ParameterName } from '../llm/index.js';
import type { ReasoningRequest } from '../reasoning/index.js';
import type { AgentDefinition } from './agent-definition.schema.js';
import type { ForkEdit } from './agent-fork.types.js';
import type { AgentRunInput, RequestOverrides } from './agent.types.js';

/** Default temperature, for models that support one. */
const DEFAULT_TEMPERATURE = 0.7;

type CallParameters = Pick<ReasoningRequest, 'parameters' | 'optionalParameters'>;

/** Applies the overrides of a request to the definition. */
export function withOverrides(
  definition: AgentDefinition,
  { model, protocol, parameters }: RequestOverrides,
): AgentDefinition {
  if (!model && !parameters) return definition;
  const merged = { ...definition.model.parameters, ...parameters };
  const { capabilities: _capabilities, ...own } = definition.model;
  return {
    ...definition,
    // The capabilities of the agent's own model do not apply to another model.
    model: { ...(model ? { ...own, ...model } : definition.model), parameters: merged },
    protocol: protocol ?? definition.protocol,
  };
}

/** The parameters of a model call: a default temperature if neither temperature nor top-p is set. */
export function withDefaults(
  parameters: ModelParameters,
  { capabilities }: ChatModel,
  optionalParameters: readonly ParameterName[] = [],
): CallParameters {
  const limits = capabilities.parameterLimits;
  const isSet = parameters.temperature !== undefined || parameters.topP !== undefined;
  if (isSet || limits?.uncertain?.includes('temperature')) return { parameters, optionalParameters };
  const { taken } = fitParameters({ temperature: DEFAULT_TEMPERATURE }, limits);
  return { parameters: { ...parameters, ...taken }, optionalParameters: [...optionalParameters, 'temperature'] };
}

/** A run's input for its fork, without the fields that the edit replaces; another agent uses its own settings. */
export function unchangedInput(formerInput: AgentRunInput, { model, agent, message }: ForkEdit): AgentRunInput {
  const input = message === undefined ? formerInput : without(formerInput, ['masked']);
  if (typeof agent === 'string')
    return without(input, ['model', 'protocol', 'parameters', 'optionalParameters', 'toolChoice', 'responseFormat']);
  const isOtherModel = model?.name !== undefined || model?.provider !== undefined;
  const lost: (keyof AgentRunInput)[] = isOtherModel ? ['model', 'protocol'] : [];
  return without(input, model?.parameters === undefined ? lost : [...lost, 'parameters', 'optionalParameters']);
}

function without(input: AgentRunInput, fields: readonly string[]): AgentRunInput {
  const others = Object.entries(input).filter(([name]) => !fields.includes(name));
  return Object.fromEntries(others) as unknown as AgentRunInput;
}
