import { fitParameters, type ChatModel, type ModelParameters } from '../llm/index.js';
import type { AgentDefinition } from './agent-definition.schema.js';
import type { ForkEdit } from './agent-fork.types.js';
import type { AgentRunInput, AskedChanges } from './agent.types.js';

/** Default temperature, for models that support one. */
const DEFAULT_TEMPERATURE = 0.7;

/** Applies the overrides of a request to the definition. */
export function asAsked(definition: AgentDefinition, { model, protocol, parameters }: AskedChanges): AgentDefinition {
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
export function withDefaults(parameters: ModelParameters, { capabilities }: ChatModel): ModelParameters {
  if (parameters.temperature !== undefined || parameters.topP !== undefined) return parameters;
  return { ...parameters, ...fitParameters({ temperature: DEFAULT_TEMPERATURE }, capabilities.parameterLimits).taken };
}

/** A run's input for its fork, without the fields that the edit replaces; another agent uses its own settings. */
export function keptInput(given: AgentRunInput, { model, agent, message }: ForkEdit): AgentRunInput {
  const input = message === undefined ? given : without(given, ['masked']);
  if (typeof agent === 'string')
    return without(input, ['model', 'protocol', 'parameters', 'toolChoice', 'responseFormat']);
  const isOtherModel = model?.name !== undefined || model?.provider !== undefined;
  const lost: (keyof AskedChanges)[] = isOtherModel ? ['model', 'protocol'] : [];
  return without(input, model?.parameters === undefined ? lost : [...lost, 'parameters']);
}

function without(input: AgentRunInput, fields: readonly string[]): AgentRunInput {
  const kept = Object.entries(input).filter(([name]) => !fields.includes(name));
  return Object.fromEntries(kept) as unknown as AgentRunInput;
}
