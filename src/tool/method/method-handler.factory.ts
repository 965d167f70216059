import { Injectable } from '@nestjs/common';
import { ContextIdFactory, type ContextId, type DiscoveryService, type ExternalContextCreator } from '@nestjs/core';
import { STATIC_CONTEXT } from '../../kernel/nest/nest-internals.js';
import type { ToolHandler } from '../tool.factory.js';
import { GlobalEnhancers } from './global-enhancers.js';
import { TOOL_CONTEXT_TYPE, TOOL_PARAMETERS } from './tool-parameter.decorator.js';
import type { DeclaredTool } from './tool-metadata.accessor.js';

type Wrapper = ReturnType<DiscoveryService['getProviders']>[number];
type Method = (...args: unknown[]) => unknown;

const ENHANCERS = { guards: true, interceptors: true, filters: true };
/** `@Tool` marks undecorated parameters; HTTP decorators such as `@Body()` yield undefined here. */
const PARAMETERS = { exchangeKeyForValue: () => undefined };

/** A provider with a tool method, and Nest's wrapper of it. */
export interface ToolProvider {
  readonly wrapper: Wrapper;
  readonly declared: DeclaredTool;
}

/** An instance for a call, the pipeline and the context that hold its enhancers. */
interface Pipeline {
  readonly contexts: ExternalContextCreator;
  readonly instance: object;
  readonly contextId: ContextId;
}

/**
 * Creates handlers that call a provider's method in the Nest pipeline: with guards, interceptors, pipes and filters of
 * the method and the class, and the global ones that `toolEnhancers` names. If the provider or one of these is
 * request-scoped, each call gets its own instance, with the call as `REQUEST`.
 */
@Injectable()
export class MethodHandlerFactory {
  constructor(private readonly globals: GlobalEnhancers) {}

  create(provider: ToolProvider): ToolHandler {
    const { wrapper, declared } = provider;
    const isStatic = !wrapper.host || (!wrapper.isTransient && wrapper.isDependencyTreeStatic());
    if (!isStatic || this.globals.hasScoped) return this.createScoped(provider, isStatic);
    const { contexts } = this.globals;
    const call = prepare(provider, { contexts, instance: declared.instance, contextId: STATIC_CONTEXT });
    return (_input, request) => call(request);
  }

  private createScoped(provider: ToolProvider, isStatic: boolean): ToolHandler {
    const { wrapper, declared } = provider;
    return async (_input, request) => {
      const contextId = ContextIdFactory.getByRequest(request);
      // Only a durable strategy shares an instance between calls; it must not see the request of the first call.
      const { payload } = contextId as ContextId & { payload?: unknown };
      const isShared = contextId.getParent !== undefined && wrapper.isDependencyTreeDurable();
      this.globals.contexts.registerRequestProvider(isShared ? payload : request, contextId);
      const contexts = await this.globals.contextsOf(contextId);
      if (isStatic) {
        return prepare(provider, { contexts, instance: declared.instance, contextId: STATIC_CONTEXT })(request);
      }
      const instance = await this.globals.loadProvider(wrapper, declared.instance, contextId);
      return prepare(provider, { contexts, instance, contextId })(request);
    };
  }
}

function prepare({ wrapper, declared }: ToolProvider, { contexts, instance, contextId }: Pipeline): Method {
  const { method } = declared;
  const callback = (instance as Record<string, Method>)[method]!;
  // Transient enhancers belong to their host. Nest finds the module of an alias or a foreign object by its instance.
  const inquirerId = wrapper.host && (!wrapper.isAlias || contextId !== STATIC_CONTEXT) ? wrapper.id : undefined;
  return contexts.create(
    instance,
    callback,
    method,
    TOOL_PARAMETERS,
    PARAMETERS,
    contextId,
    inquirerId,
    ENHANCERS,
    TOOL_CONTEXT_TYPE,
  );
}
