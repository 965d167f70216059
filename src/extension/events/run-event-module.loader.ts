import type { DynamicModule } from '@nestjs/common';

/** The module that tells `@OnEvent` methods of run events; `@nestjs/event-emitter` is imported only with it. */
export async function loadRunEventModule(): Promise<DynamicModule> {
  const { RunEventModule } = await import('./run-event.module.js');
  return { module: RunEventModule };
}
