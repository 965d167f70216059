import { type DynamicModule, type INestApplicationContext, type InjectionToken, Module } from '@nestjs/common';
import type { ModulesContainer } from '@nestjs/core';
import { AppError, Log, messageOf } from '../errors/index.js';
import { agentServicesProvider } from './agent-services.js';
import {
  callAppShutdownHook,
  callBeforeAppShutdownHook,
  callModuleDestroyHook,
  createContainer,
  type InstanceWrapper,
  startContext,
  STATIC_CONTEXT,
} from '../kernel/nest/nest-internals.js';

const ENDING = [callModuleDestroyHook, callBeforeAppShutdownHook, callAppShutdownHook];

@Module({})
class AgentContextModule {}

/**
 * Creates an application without HTTP, with the services of an agent. If the start fails, Nest returns no context: this function then runs the
 * shutdown hooks as `close` does, so that the database is free and the resources of extensions are closed.
 */
export async function createNestContext(module: DynamicModule): Promise<INestApplicationContext> {
  const container = createContainer();
  try {
    return await startContext(container, {
      module: AgentContextModule,
      imports: [module],
      providers: [agentServicesProvider],
    });
  } catch (error) {
    await end(container.getModules());
    throw withoutStack(error);
  }
}

/** The message of an `AppError` has the remedy; Node prints the stack of an error that a script does not catch. */
function withoutStack(error: unknown): unknown {
  if (error instanceof AppError) error.stack = `${error.name}: ${error.message}`;
  return error;
}

/** Runs the hooks in Nest's order. A failing hook does not hide the error of the start. */
async function end(modules: ModulesContainer): Promise<void> {
  const ordered = [...modules.values()].toSorted((a, b) => a.distance - b.distance);
  for (const { providers, controllers, injectables } of ordered) {
    for (const collection of [providers, controllers, injectables]) dropUncreated(collection);
  }
  for (const hook of ENDING) {
    for (const module of ordered) {
      await hook(module).catch((error: unknown) => {
        new Log('createAgent').warn(`Shutdown after a failed start failed: ${messageOf(error)}`);
      });
    }
  }
}

/** Removes the classes that Nest has not instantiated: it would call the hooks of their bare prototypes. */
function dropUncreated(providers: Map<InjectionToken, InstanceWrapper>): void {
  for (const [token, wrapper] of providers) {
    const { isConstructorCalled } = wrapper.getInstanceByContextId(STATIC_CONTEXT);
    if (!wrapper.isNotMetatype && !isConstructorCalled) providers.delete(token);
  }
}
