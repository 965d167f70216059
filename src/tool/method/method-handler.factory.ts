import { Injectable } from '@nestjs/common';
import { ROUTE_ARGS_METADATA } from '@nestjs/common/constants.js';
import {
  ContextIdFactory,
  type ContextId,
  type DiscoveryService,
  ExternalContextCreator,
  ModulesContainer,
} from '@nestjs/core';
import { STATIC_CONTEXT } from '@nestjs/core/injector/constants.js';
import { Injector } from '@nestjs/core/injector/injector.js';
import type { ToolHandler } from '../tool.factory.js';
import { TOOL_CONTEXT_TYPE } from './tool-context.accessor.js';
import type { DeclaredTool } from './tool-metadata.accessor.js';

type Wrapper = ReturnType<DiscoveryService['getProviders']>[number];
type Host = NonNullable<Wrapper['host']>;
type Method = (...args: unknown[]) => unknown;

const ENHANCERS = { guards: true, interceptors: true, filters: true };
/** Parameters without a decorator are marked by `@Tool`; those of HTTP (`@Body()`) have nothing to take here. */
const PARAMETERS = { exchangeKeyForValue: () => undefined };

/** A provider whose method is a tool, where Nest knows it. */
export interface ToolProvider {
  readonly wrapper: Wrapper;
  readonly declared: DeclaredTool;
}

/**
 * Makes handlers that call a provider's method as Nest calls a controller's: through the guards, interceptors, pipes and
 * filters of the method, the class and the application, and, where the provider or one of those is request-scoped, on an
 * instance of the call's own, with the call as `REQUEST`.
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
      // Only with a strategy several calls share a durable instance, which must not see the request of the first one.
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
 * Nest looks for a method's module among providers only, and passes over the enhancers of a class that it does not find
 * there: here controllers have tools too.
 */
function alsoForControllers(contexts: ExternalContextCreator, modules: ModulesContainer): ExternalContextCreator {
  const getContextModuleKey: ExternalContextCreator['getContextModuleKey'] = (type) => {
    const isHost = ({ controllers }: Host) => type !== undefined && controllers.has(type);
    return contexts.getContextModuleKey(type) || ([...modules].find(([, host]) => isHost(host))?.[0] ?? '');
  };
  return Object.assign(Object.create(contexts) as ExternalContextCreator, { getContextModuleKey });
}
