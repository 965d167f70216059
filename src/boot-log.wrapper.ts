import { ConsoleLogger } from '@nestjs/common';
import { AppError } from './common/index.js';

/** The log until the application's own is there. An error of ours says all in its message, which its catcher prints. */
export class BootLog extends ConsoleLogger {
  override error(message: unknown, ...rest: unknown[]): void {
    if (!(message instanceof AppError)) super.error(message, ...rest);
  }
}
