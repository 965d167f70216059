import type { JsonSchema } from '../../kernel/json/index.js';
import { type StatefulOptions, toStateful } from './stateful-options.policy.js';
import type { ToolState } from './tool-state.types.js';

/** Whether the arguments of a stateful tool contain its state, and where. */
export interface StateInjection {
  /** Stateful tools only: whether the arguments contain a copy of the business state. */
  readonly stateInjection?: boolean;
  /** Name of the argument with the state; default `state`. */
  readonly stateParameterName?: string;
}

interface StatefulDeclaration extends StateInjection {
  readonly stateful?: boolean | StatefulOptions;
}

/** Default name of the argument with the state. */
const STATE = 'state';

/**
 * Name of the argument with the state; `undefined` without such an argument.
 * @param isDefault whether the arguments contain the state if the declaration does not say so
 */
export function stateParameterOf(declaration: StatefulDeclaration, isDefault: boolean): string | undefined {
  const { stateful, stateInjection = isDefault, stateParameterName = STATE } = declaration;
  return toStateful(stateful) && stateInjection ? stateParameterName : undefined;
}

/** All mistakes of a declaration, as clauses about the tool. @param parameters schema of the arguments, if valid */
export function stateArgumentProblems(
  declaration: StatefulDeclaration,
  isDefault: boolean,
  parameters?: JsonSchema,
): string[] {
  const { stateInjection, stateParameterName } = declaration;
  const given = (['stateInjection', 'stateParameterName'] as const).filter((key) => declaration[key] !== undefined);
  if (!toStateful(declaration.stateful)) {
    return given.map((key) => `it has a ${key} and keeps no state that it is given`);
  }
  if (stateInjection !== undefined && typeof stateInjection !== 'boolean') {
    return [`its stateInjection is ${JSON.stringify(stateInjection)}: use true or false`];
  }
  const name = stateParameterOf(declaration, isDefault);
  if (name !== undefined) return nameProblems(name, parameters);
  return stateParameterName === undefined ? [] : ['its stateParameterName has no effect without stateInjection'];
}

function nameProblems(name: unknown, parameters: JsonSchema | undefined): string[] {
  if (typeof name !== 'string' || name === '') return [`its stateParameterName is ${JSON.stringify(name)}: use a name`];
  if (!Object.hasOwn(parameters?.['properties'] ?? {}, name)) return [];
  return [`its parameters have "${name}", where its state would be: give another stateParameterName`];
}

/**
 * Adds a copy of the state to the arguments; a DTO stays an instance of its class.
 * @throws TypeError for arguments that are not an object
 */
export function withStateArgument(args: unknown, name: string, state: ToolState): object {
  if (typeof args !== 'object' || args === null) {
    throw new TypeError('The arguments are not an object, so they cannot contain the state: use @ToolState().');
  }
  const value = { value: state.data, enumerable: true, configurable: true, writable: true };
  const properties = { ...Object.getOwnPropertyDescriptors(args), [name]: value };
  return Object.create(Object.getPrototypeOf(args) as object | null, properties) as object;
}
