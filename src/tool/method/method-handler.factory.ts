import { Injectable } from '@nestjs/common';
import {
  ContextIdFactory,
  type ContextId,
  type DiscoveryService,
  ExternalContextCreator,
  ModulesContainer,
} from '@nestjs/core';
import { Injector, ROUTE_ARGS_METADATA, STATIC_CONTEXT } from '../../kernel/nest-internals.js';
import type { ToolHandler } from '../tool.factory.js';
import { TOOL_CONTEXT_TYPE } from './tool-context.accessor.js';
import type { DeclaredTool } from './tool-metadata.accessor.js';

type Wrapper = ReturnType<DiscoveryService['getProviders']>[number];
type Host = NonNullable<Wrapper['host']>;
type Method = (...args: unknown[]) => unknown;

const ENHANCERS = { guards: true, interceptors: true, filters: true };
/** `@Tool` marks undecorated parameters; HTTP decorators such as `@Body()` yield undefined here. */
const PARAMETERS = { exchangeKeyForValue: () => undefined };

/** A provider with a tool method, and Nest's wrapper of it. */
export interface ToolProvider {
  readonly wrapper: Wrapper;
  readonly declared: DeclaredTool;
}

/**
 * Creates handlers that call a provider's method in the Nest pipeline: with guards, interceptors, pipes and filters of
 * the method, the class and the application. If the provider or one of these is request-scoped, each call gets its own
 * instance, with the call as `REQUEST`.
 */
@Injectable()
export class MethodHandlerFactory {
  private readonly injector = new Injector();

  private readonly contexts: ExternalContextCreator;

  constructor(contexts: ExternalContextCreator, modules: ModulesContainer) {
    this.contexts = alsoForControllers(contexts, modules);
  }

  create(provider: ToolProvider): ToolHandler {
    const { wrapper, declared } = provider;
    const isStatic = !wrapper.isTransient && wrapper.isDependencyTreeStatic();
    if (!isStatic && wrapper.host) return this.createScoped(provider, wrapper.host);
    const call = this.prepare(declared.instance, declared.method, STATIC_CONTEXT);
    return (_input, request) => call(request);
  }

  private createScoped({ wrapper, declared }: ToolProvider, host: Host): ToolHandler {
    const { instance, method } = declared;
    const collection = host.controllers.get(wrapper.token) === wrapper ? host.controllers : host.providers;
    return async (_input, request) => {
      const contextId = ContextIdFactory.getByRequest(request);
      // Only a durable strategy shares an instance between calls; it must not see the request of the first call.
      const { payload } = contextId as ContextId & { payload?: unknown };
      const isShared = contextId.getParent !== undefined && wrapper.isDependencyTreeDurable();
      this.contexts.registerRequestProvider(isShared ? payload : request, contextId);
      const own = await this.injector.loadPerContext(instance, host, collection, contextId, wrapper);
      return this.prepare(own, method, contextId, wrapper.id)(request);
    };
  }

  private prepare(instance: object, method: string, contextId: ContextId, inquirerId?: string): Method {
    const callback = (instance as Record<string, Method>)[method]!;
    return this.contexts.create(
      instance,
      callback,
      method,
      ROUTE_ARGS_METADATA,
      PARAMETERS,
      contextId,
      inquirerId,
      ENHANCERS,
      TOOL_CONTEXT_TYPE,
    );
  }
}

/**
 * Nest searches a method's module among providers only, and ignores the enhancers of other classes. This extension also
 * finds controllers.
 */
function alsoForControllers(contexts: ExternalContextCreator, modules: ModulesContainer): ExternalContextCreator {
  const getContextModuleKey: ExternalContextCreator['getContextModuleKey'] = (type) => {
    const isHost = ({ controllers }: Host) => type !== undefined && controllers.has(type);
    return contexts.getContextModuleKey(type) || ([...modules].find(([, host]) => isHost(host))?.[0] ?? '');
  };
  return Object.assign(Object.create(contexts) as ExternalContextCreator, { getContextModuleKey });
}
