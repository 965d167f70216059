import { ArgumentsHost, Catch, ExceptionFilter, HttpException, Logger } from '@nestjs/common';
import type { Response } from 'express';

/** Answers every error as `{ error: { status, message } }`. */
@Catch()
export class AllErrorsFilter implements ExceptionFilter {
  private readonly logger = new Logger(AllErrorsFilter.name);

  catch(error: unknown, host: ArgumentsHost): void {
    const status = error instanceof HttpException ? error.getStatus() : 500;
    if (status >= 500) this.logger.error(error);
    const message = error instanceof HttpException ? messageOf(error) : 'Internal error';
    host.switchToHttp().getResponse<Response>().status(status).json({ error: { status, message } });
  }
}

function messageOf(error: HttpException): unknown {
  const body = error.getResponse();
  return typeof body === 'object' && 'message' in body ? body.message : error.message;
}
