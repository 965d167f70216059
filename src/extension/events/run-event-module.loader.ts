import type { DynamicModule } from '@nestjs/common';

/** Loads the module that publishes run events to `@OnEvent` methods; imports `@nestjs/event-emitter` only then. */
export async function loadRunEventModule(): Promise<DynamicModule> {
  const { RunEventModule } = await import('./run-event.module.js');
  return { module: RunEventModule };
}
