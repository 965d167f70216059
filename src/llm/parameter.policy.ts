import type { ModelParameters } from './chat.types.js';

export type ParameterName = keyof ModelParameters;

/** What a model does not take of the parameters; all else it takes. */
export interface ParameterLimits {
  readonly lacking?: readonly ParameterName[];
  /** 2 when left out. */
  readonly maxTemperature?: number;
  /** How many texts may end a reply; any number when left out. */
  readonly maxStops?: number;
  /** Whether `temperature` and `topP` are not taken both at once. */
  readonly isOneOfTemperatureAndTopP?: boolean;
}

/** A parameter that is not taken, and why: the end of "… takes ". */
export interface RefusedParameter {
  readonly name: ParameterName;
  readonly reason: string;
}

export interface FittedParameters {
  readonly taken: ModelParameters;
  readonly refused: readonly RefusedParameter[];
}

/** Divides parameters into those that a model takes and those that it does not. */
export function fitParameters(parameters: ModelParameters, limits: ParameterLimits): FittedParameters {
  const refused: RefusedParameter[] = [];
  const taken: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(parameters)) {
    const name = key as ParameterName;
    if (value === undefined) continue;
    const reason = reasonAgainst(name, parameters, limits);
    if (reason === undefined) taken[name] = value;
    else refused.push({ name, reason });
  }
  return { taken: taken as ModelParameters, refused };
}

function reasonAgainst(name: ParameterName, given: ModelParameters, limits: ParameterLimits): string | undefined {
  const { lacking = [], maxTemperature = 2, maxStops = Infinity, isOneOfTemperatureAndTopP } = limits;
  if (lacking.includes(name)) return `no ${name}`;
  if (name === 'temperature' && given.temperature! > maxTemperature)
    return `a temperature of ${maxTemperature} at most`;
  if (name === 'stop' && given.stop!.length > maxStops) return `${maxStops} in stop at most`;
  if (name === 'topP' && isOneOfTemperatureAndTopP && given.temperature !== undefined) {
    return 'no topP beside a temperature';
  }
  return undefined;
}
