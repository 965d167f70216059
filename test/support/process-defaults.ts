import { Logger, type LoggerService } from '@nestjs/common';

/** Resets the pino instance that nestjs-pino keeps for lines outside of requests: it is that of the first application. */
const { __resetOutOfContextForTests: resetPino } = (await import(
  new URL('PinoLogger.js', import.meta.resolve('nestjs-pino')).href
)) as { __resetOutOfContextForTests: () => void };

const logger = (Logger as unknown as { staticInstanceRef: LoggerService }).staticInstanceRef;
const { env } = process;
const variables = { ...env };
const folder = process.cwd();

/** Restores the state of the worker's process that a test file may have changed. */
export function restoreProcess(): void {
  process.env = env;
  for (const name of Object.keys(env)) if (!(name in variables)) delete env[name];
  Object.assign(env, variables);
  process.chdir(folder);
  Logger.overrideLogger(logger);
  resetPino();
}
