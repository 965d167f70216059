import { NestFactory } from '@nestjs/core';
import { JackdawModule, ToolStateBackups } from '../../src/index.js';

/** @param config the variables of the server */
export async function restore(config: Record<string, string>, file: string): Promise<number> {
  const context = await NestFactory.createApplicationContext(JackdawModule.forRoot({ config, recovery: 'manual' }));
  const count = await context.get(ToolStateBackups).restore(file);
  await context.close();
  return count;
}
