import { ConsoleLogger } from '@nestjs/common';
import { AppError } from '../errors/index.js';

/** Nest's contexts that log every module and route (about forty lines); logged at `debug` only. */
export const BOOT_CONTEXTS: ReadonlySet<unknown> = new Set([
  'InstanceLoader',
  'NestApplication',
  'NestFactory',
  'RouterExplorer',
  'RoutesResolver',
]);

/** The logger until the application's own is ready. It skips an `AppError`: its catcher prints the message. */
export class BootLog extends ConsoleLogger {
  override log(message: unknown, ...rest: unknown[]): void {
    if (!BOOT_CONTEXTS.has(rest.at(-1))) super.log(message, ...rest);
  }

  override error(message: unknown, ...rest: unknown[]): void {
    if (!(message instanceof AppError)) super.error(message, ...rest);
  }
}
