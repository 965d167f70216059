import {
  ConsoleLogger,
  type DynamicModule,
  type INestApplicationContext,
  type InjectionToken,
  Logger,
  type LoggerService,
  Module,
} from '@nestjs/common';
import { ModulesContainer, NestFactory } from '@nestjs/core';
import { AppError, messageOf } from '../errors/index.js';
import { agentServicesProvider } from './agent-services.js';
import {
  callAppShutdownHook,
  callBeforeAppShutdownHook,
  callModuleDestroyHook,
  type InstanceWrapper,
  STATIC_CONTEXT,
} from '../kernel/nest-internals.js';

const ENDING = [callModuleDestroyHook, callBeforeAppShutdownHook, callAppShutdownHook];

@Module({})
class AgentContextModule {}

/** The default log of a script: warnings and errors. It skips an `AppError` of the start, which `createAgent` throws. */
class ScriptLog extends ConsoleLogger {
  override error(message: unknown, ...rest: unknown[]): void {
    if (!(message instanceof AppError)) super.error(message, ...rest);
  }
}

/**
 * Creates an application without HTTP, with the services of an agent. If the start fails, Nest returns no context: this function then runs the
 * shutdown hooks as `close` does, so that the database is free and the resources of extensions are closed.
 */
export async function createNestContext(
  module: DynamicModule,
  logger: LoggerService = new ScriptLog({ logLevels: ['warn', 'error'] }),
): Promise<INestApplicationContext> {
  const found: ModulesContainer[] = [];
  const finder = {
    provide: AgentContextModule.name,
    useFactory: (modules: ModulesContainer) => found.push(modules),
    inject: [ModulesContainer],
  };
  const root = { module: AgentContextModule, imports: [module], providers: [finder, agentServicesProvider] };
  try {
    return await NestFactory.createApplicationContext(root, { logger, abortOnError: false });
  } catch (error) {
    for (const modules of found) await end(modules);
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
        new Logger('createAgent').warn(`Shutdown after a failed start failed: ${messageOf(error)}`);
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
