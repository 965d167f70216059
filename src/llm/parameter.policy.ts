import type { ModelParameters, ParameterLimits, ParameterName } from './chat.types.js';

/** An unsupported parameter and the reason, as the end of "… takes ". */
export interface RefusedParameter {
  readonly name: ParameterName;
  readonly reason: string;
}

export interface FittedParameters {
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

function reasonAgainst(name: ParameterName, values: ModelParameters, limits: ParameterLimits): string | undefined {
  if (limits.lacking?.includes(name)) return `no ${name}`;
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
    case 'maxTokens':
    case 'frequencyPenalty':
    case 'presencePenalty':
    case 'seed':
      return undefined;
  }
}

function isOver(value: number | undefined, most: number | undefined): boolean {
  return value !== undefined && most !== undefined && value > most;
}
