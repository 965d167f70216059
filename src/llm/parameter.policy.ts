import { EFFORTS } from '../config/index.js';
import type { Effort, ModelParameters, ParameterLimits, ParameterName } from './chat.types.js';

/** An unsupported parameter and the reason, as the end of "… takes ". */
interface RefusedParameter {
  readonly name: ParameterName;
  readonly reason: string;
}

interface FittedParameters {
  readonly taken: ModelParameters;
  readonly refused: readonly RefusedParameter[];
}

/** Splits parameters into supported and unsupported ones. */
export function fitParameters(parameters: ModelParameters, limits: ParameterLimits = {}): FittedParameters {
  const refused: RefusedParameter[] = [];
  const taken: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(parameters)) {
    const name = key as ParameterName;
    if (value === undefined) continue;
    const reason = reasonAgainst(name, parameters, limits);
    if (reason === undefined) taken[name] = value;
    else refused.push({ name, reason });
  }
  return { taken, refused };
}

const SAMPLING: readonly ParameterName[] = ['temperature', 'topP'];

function reasonAgainst(name: ParameterName, values: ModelParameters, limits: ParameterLimits): string | undefined {
  if (limits.lacking?.includes(name)) return `no ${name}`;
  if (SAMPLING.includes(name) && isBesideEffort(values, limits)) return `no ${name} beside an effort`;
  return reasonAgainstValue(name, values, limits);
}

function reasonAgainstValue(name: ParameterName, values: ModelParameters, limits: ParameterLimits): string | undefined {
  switch (name) {
    case 'temperature':
      return isOver(values.temperature, limits.maxTemperature)
        ? `a temperature of ${limits.maxTemperature} at most`
        : undefined;
    case 'stop':
      return isOver(values.stop?.length, limits.maxStops) ? `${limits.maxStops} in stop at most` : undefined;
    case 'topP':
      return limits.isOneOfTemperatureAndTopP && values.temperature !== undefined
        ? 'no topP beside a temperature'
        : undefined;
    case 'effort':
      return reasonAgainstEffort(values.effort, limits);
    case 'maxTokens':
    case 'frequencyPenalty':
    case 'presencePenalty':
    case 'seed':
      return undefined;
  }
}

function isBesideEffort({ effort }: ModelParameters, { hasNoSamplingBesideEffort }: ParameterLimits): boolean {
  return hasNoSamplingBesideEffort === true && isReasoned(effort);
}

function isOver(value: number | undefined, most: number | undefined): boolean {
  return value !== undefined && most !== undefined && value > most;
}

/** Whether a request asks for reasoning. */
export function isReasoned(effort: Effort | undefined): boolean {
  return effort !== undefined && effort !== 'none';
}

/** The reason why a model does not support an effort, as the end of "… takes "; undefined if it does. */
export function reasonAgainstEffort(effort: Effort | undefined, { efforts }: ParameterLimits): string | undefined {
  if (efforts === undefined || effort === undefined) return undefined;
  if (efforts.length === 0) return 'no effort';
  const canReason = efforts.some(isReasoned);
  const isPossible = effort === 'none' ? efforts.includes('none') : canReason;
  return isPossible ? undefined : `an effort of ${efforts.join(', ')} only`;
}

/** Parameters with the level of effort that the model supports: the nearest one, of two equally near ones the higher. */
export function withNearestEffort(parameters: ModelParameters, { efforts }: ParameterLimits = {}): ModelParameters {
  const { effort } = parameters;
  if (effort === undefined || effort === 'none' || efforts === undefined || efforts.includes(effort)) return parameters;
  const wanted = EFFORTS.indexOf(effort);
  const distance = (level: Effort) => Math.abs(EFFORTS.indexOf(level) - wanted);
  const [nearest] = efforts
    .filter(isReasoned)
    .toSorted((a, b) => distance(a) - distance(b) || EFFORTS.indexOf(b) - EFFORTS.indexOf(a));
  return nearest === undefined ? parameters : { ...parameters, effort: nearest };
}
