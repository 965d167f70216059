import 'reflect-metadata';
import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { ROUTE_ARGS_METADATA } from '@nestjs/common/constants.js';
import type { ToolState as ToolStateType } from '../state/tool-state-handle.factory.js';
import type { StateData } from '../state/tool-state.types.js';
import type { ToolContext as ToolContextType } from '../tool.types.js';
import { ToolExecutionContext } from './tool-context.accessor.js';

interface ParameterMetadata {
  readonly index: number;
  readonly factory?: unknown;
  readonly pipes?: readonly unknown[];
}

const inputOf = (_data: unknown, context: ExecutionContext) =>
  ToolExecutionContext.create(context).getRequest().arguments;
const requestOf = (_data: unknown, context: ExecutionContext) => ToolExecutionContext.create(context).getRequest();
const signalOf = (_data: unknown, context: ExecutionContext) =>
  ToolExecutionContext.create(context).getRequest().signal;

const stateOf = (_data: unknown, context: ExecutionContext) => ToolExecutionContext.create(context).getRequest().state;

const ToolInput = createParamDecorator(inputOf);
/** The type and the decorator share their name, as a class does with its constructor. */
export type ToolContext = ToolContextType;
/** A parameter of a tool's method that takes the call's `ToolContext`. */
export const ToolContext = createParamDecorator(requestOf);
/** A parameter of a tool's method that takes the signal which says that the call is to stop. */
export const ToolSignal = createParamDecorator(signalOf);

/** The type and the decorator share their name, as a class does with its constructor. */
export type ToolState<T extends object = StateData> = ToolStateType<T>;
/** A parameter of a stateful tool's method that takes its `ToolState`. */
export const ToolState = createParamDecorator(stateOf);

/** Whether a parameter of a tool's method takes its state. */
export function takesState(type: object, method: string): boolean {
  return parametersOf(type, method).some(({ factory }) => factory === stateOf);
}

/** Marks what no decorator claims of a tool's parameters: the first takes the checked arguments, the next the context. */
export function markParameters(target: object, method: string): void {
  const taken = new Set(parametersOf(target.constructor, method).map(({ index }) => index));
  let index = 0;
  for (const decorate of [ToolInput(), ToolContext()]) {
    while (taken.has(index)) index++;
    decorate(target, method, index++);
  }
}

/** Which parameter of a tool's method takes the arguments. */
export function inputIndex(type: object, method: string): number {
  return parametersOf(type, method).find(({ factory }) => factory === inputOf)?.index ?? 0;
}

/** The pipes that are bound to the parameters of a tool's method. */
export function parameterPipes(type: object, method: string): unknown[] {
  return parametersOf(type, method).flatMap(({ pipes = [] }) => pipes);
}

function parametersOf(type: object, method: string): readonly ParameterMetadata[] {
  const given = Reflect.getMetadata(ROUTE_ARGS_METADATA, type, method) as Record<string, ParameterMetadata> | undefined;
  return Object.values(given ?? {});
}
