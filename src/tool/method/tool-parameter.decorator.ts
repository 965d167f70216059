import 'reflect-metadata';
import { type ArgumentsHost, createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { ExecutionContextHost, ROUTE_ARGS_METADATA } from '../../kernel/nest/nest-metadata.js';
import type { ToolRequest } from '../call/tool-request.factory.js';
import { withStateArgument } from '../stateful/state-argument.policy.js';
import type { StateData, ToolState as ToolStateType } from '../stateful/tool-state.types.js';
import type { ToolContext as ToolContextType } from '../tool.types.js';

/** Value of `ExecutionContext.getType()` during a tool call. */
export const TOOL_CONTEXT_TYPE = 'tool';

/** Execution context of a tool call, for guards, interceptors and filters: `ToolExecutionContext.create(context)`. */
export class ToolExecutionContext extends ExecutionContextHost {
  /** @throws TypeError for a context of another type than `tool`; check `getType()` first */
  static create(context: ExecutionContext | ArgumentsHost): ToolExecutionContext {
    const type = context.getType<string>();
    if (type !== TOOL_CONTEXT_TYPE) {
      throw new TypeError(`This is an execution context of type "${type}", not of a tool call: ask getType() first.`);
    }
    const created = new ToolExecutionContext(context.getArgs(), classOf(context), handlerOf(context));
    created.setType(type);
    return created;
  }

  /**
   * The call: tool, arguments, principal, tenant, session, run, signal. The same object as the method's `ToolContext`.
   */
  getRequest(): ToolRequest {
    return this.getArgByIndex<ToolRequest>(0);
  }
}

function classOf(context: ExecutionContext | ArgumentsHost) {
  return 'getClass' in context ? context.getClass() : undefined;
}

function handlerOf(context: ExecutionContext | ArgumentsHost) {
  return 'getHandler' in context ? context.getHandler() : undefined;
}

/**
 * Metadata key of the parameters of a tool method. It is not Nest's own key, so that a method can also serve a route, a
 * message or a resolver: there its parameters stay as declared.
 */
export const TOOL_PARAMETERS = 'jackdaw:tool-parameters';

interface ParameterMetadata {
  readonly index: number;
  readonly factory?: unknown;
  readonly pipes?: readonly unknown[];
}

const inputOf = (stateParameter: string | undefined, context: ExecutionContext) => {
  const request = ToolExecutionContext.create(context).getRequest();
  if (stateParameter === undefined) return request.arguments;
  return withStateArgument(request.arguments, stateParameter, request.state!);
};
const requestOf = (_data: unknown, context: ExecutionContext) => ToolExecutionContext.create(context).getRequest();
const signalOf = (_data: unknown, context: ExecutionContext) =>
  ToolExecutionContext.create(context).getRequest().signal;

const stateOf = (_data: unknown, context: ExecutionContext) => ToolExecutionContext.create(context).getRequest().state;

const ToolInput = createParamDecorator(inputOf);
/** Type and decorator share the name. */
export type ToolContext = ToolContextType;
/** Injects the call's `ToolContext` into a parameter of a tool method. */
export const ToolContext = createParamDecorator(requestOf);
/** Injects the call's abort signal into a parameter of a tool method. */
export const ToolSignal = createParamDecorator(signalOf);

/** Type and decorator share the name. */
export type ToolState<T extends object = StateData> = ToolStateType<T>;
/** Injects the `ToolState` into a parameter of a stateful tool's method. */
export const ToolState = createParamDecorator(stateOf);

/** Whether a tool method has a `@ToolState()` parameter. */
export function takesState(type: object, method: string): boolean {
  return parametersOf(type, method).some(({ factory }) => factory === stateOf);
}

/**
 * Stores the parameters of a tool method: the decorated ones, and for the first undecorated ones the validated arguments,
 * then the context. @param stateParameter name of the argument with the state, if there is one
 */
export function markParameters(target: object, method: string, stateParameter?: string): void {
  const decorated = metadataOf(ROUTE_ARGS_METADATA, target.constructor, method);
  const taken = new Set(Object.values(decorated).map(({ index }) => index));
  class Marked {}
  let index = 0;
  for (const decorate of [ToolInput(stateParameter), ToolContext()]) {
    while (taken.has(index)) index++;
    decorate(Marked.prototype, method, index++);
  }
  const marked = { ...decorated, ...metadataOf(ROUTE_ARGS_METADATA, Marked, method) };
  Reflect.defineMetadata(TOOL_PARAMETERS, marked, target.constructor, method);
}

/** Index of the parameter with the arguments. */
export function inputIndex(type: object, method: string): number {
  return parametersOf(type, method).find(({ factory }) => factory === inputOf)?.index ?? 0;
}

/** Pipes bound to the parameters of a tool method. */
export function parameterPipes(type: object, method: string): unknown[] {
  return parametersOf(type, method).flatMap(({ pipes = [] }) => pipes);
}

function parametersOf(type: object, method: string): readonly ParameterMetadata[] {
  return Object.values(metadataOf(TOOL_PARAMETERS, type, method));
}

function metadataOf(key: string, type: object, method: string): Readonly<Record<string, ParameterMetadata>> {
  return (Reflect.getMetadata(key, type, method) as Record<string, ParameterMetadata> | undefined) ?? {};
}
