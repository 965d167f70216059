import { Catch, Logger, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import { AppError } from './app.error.js';
import { toProblem } from './problem.mapper.js';

/** What we use of Fastify's reply. */
interface HttpReply {
  readonly sent: boolean;
  status(code: number): HttpReply;
  header(name: string, value: string): HttpReply;
  send(body: string): unknown;
}

/** Turns every error into problem details. A 5xx of our own making is logged with its cause; a client never sees a stack. */
@Catch()
export class HttpExceptionFilter implements ExceptionFilter {
  private readonly logger = new Logger(HttpExceptionFilter.name);

  catch(thrown: unknown, host: ArgumentsHost): void {
    if (host.getType() !== 'http') throw thrown;
    this.answer(thrown, host.switchToHttp().getResponse<HttpReply>());
  }

  /** For what goes wrong before there is a host. */
  answer(thrown: unknown, reply: HttpReply): void {
    const problem = toProblem(thrown);
    if (problem.status === 500 && !isRunFailure(thrown))
      this.logger.error({ err: thrown, code: problem.code }, problem.detail);
    if (reply.sent) return;
    const retryAfterMs = problem['retry_after_ms'];
    if (typeof retryAfterMs === 'number') reply.header('retry-after', String(Math.ceil(retryAfterMs / 1000)));
    if (problem.status === 401) reply.header('www-authenticate', 'Bearer');
    reply
      .status(problem.status)
      .header('content-type', 'application/problem+json; charset=utf-8')
      .send(JSON.stringify(problem));
  }
}

/** A failed run is logged where it fails, with its cause; here it only passes by. */
function isRunFailure(thrown: unknown): boolean {
  return thrown instanceof AppError && thrown.details?.['run_id'] !== undefined;
}
