import { ConsoleLogger } from '@nestjs/common';
import { AppError } from './common/index.js';

/** Nest's own contexts that tell of every module and route: some forty lines, for who asks for them. */
export const BOOT_CONTEXTS: ReadonlySet<unknown> = new Set([
  'InstanceLoader',
  'NestApplication',
  'NestFactory',
  'RouterExplorer',
  'RoutesResolver',
]);

/** The log until the application's own is there. An error of ours says all in its message, which its catcher prints. */
export class BootLog extends ConsoleLogger {
  override log(message: unknown, ...rest: unknown[]): void {
    if (!BOOT_CONTEXTS.has(rest.at(-1))) super.log(message, ...rest);
  }

  override error(message: unknown, ...rest: unknown[]): void {
    if (!(message instanceof AppError)) super.error(message, ...rest);
  }
}
