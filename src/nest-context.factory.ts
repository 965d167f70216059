import { type DynamicModule, type INestApplicationContext, Logger, type LoggerService, Module } from '@nestjs/common';
import { ModulesContainer, NestFactory } from '@nestjs/core';
import { callAppShutdownHook, callBeforeAppShutdownHook, callModuleDestroyHook } from '@nestjs/core/hooks/index.js';
import { messageOf } from './common/index.js';

const ENDING = [callModuleDestroyHook, callBeforeAppShutdownHook, callAppShutdownHook];

@Module({})
class AgentContextModule {}

/**
 * An application without HTTP, begun. Nest keeps one that does not begin to itself, with all that has begun of it: here that is ended
 * as `close` would, so that its database is free, and what extensions have opened is closed.
 */
export async function createNestContext(
  module: DynamicModule,
  logger: LoggerService | ('warn' | 'error')[],
): Promise<INestApplicationContext> {
  const found: ModulesContainer[] = [];
  const finder = {
    provide: AgentContextModule.name,
    useFactory: (modules: ModulesContainer) => found.push(modules),
    inject: [ModulesContainer],
  };
  const root = { module: AgentContextModule, imports: [module], providers: [finder] };
  try {
    return await NestFactory.createApplicationContext(root, { logger, abortOnError: false });
  } catch (error) {
    for (const modules of found) await end(modules);
    throw error;
  }
}

/** In the order in which Nest ends them; what goes wrong with that does not hide why it began. */
async function end(modules: ModulesContainer): Promise<void> {
  const ordered = [...modules.values()].toSorted((a, b) => a.distance - b.distance);
  for (const hook of ENDING) {
    for (const module of ordered) {
      await hook(module).catch((error: unknown) => {
        new Logger('createAgent').warn(`What had begun could not be ended: ${messageOf(error)}`);
      });
    }
  }
}
