import { Catch, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import { Log } from './log.js';
import { AppError } from './app.error.js';
import { type Problem } from './problem.types.js';
import { isOpenAiPath, openAiStatus, toOpenAiError } from './openai-error.mapper.js';
import { toProblem } from './problem.mapper.js';

/** The part of the reply of Fastify or Express that we use. */
interface HttpReply {
  readonly request?: { readonly id: string; readonly url?: string };
  readonly sent?: boolean;
  readonly headersSent?: boolean;
  status(code: number): HttpReply;
  header(name: string, value: string): HttpReply;
  send(body: string): unknown;
}

/**
 * Converts errors of Jackdaw to problem details; all other errors stay with Nest or the host's own filters. Logs a 500
 * with its cause; clients never receive a stack.
 */
@Catch(AppError)
export class HttpExceptionFilter implements ExceptionFilter {
  private readonly logger = new Log(HttpExceptionFilter.name);

  catch(thrown: unknown, host: ArgumentsHost): void {
    if (host.getType() !== 'http') throw thrown;
    this.answer(thrown, host.switchToHttp().getResponse<HttpReply>());
  }

  /** For errors before Nest has created a host. */
  answer(thrown: unknown, reply: HttpReply): void {
    const problem = toProblem(thrown);
    if (problem.status === 500 && !isRunFailure(thrown))
      this.logger.error({ err: thrown, code: problem.code }, problem.detail);
    if (reply.sent === true || reply.headersSent === true) return;
    addHeaders(problem, reply);
    const { id: requestId, url = '' } = reply.request ?? {};
    // Also without the hook of the request log, which an invalid URL does not reach.
    if (requestId !== undefined) reply.header('x-request-id', requestId);
    if (isOpenAiPath(url)) answerOpenAi(problem, thrown, reply);
    else answerProblem(problem, requestId, reply);
  }
}

function addHeaders(problem: Problem, reply: HttpReply): void {
  const retryAfterMs = problem['retry_after_ms'];
  if (typeof retryAfterMs === 'number') reply.header('retry-after', String(Math.ceil(retryAfterMs / 1000)));
  if (problem.status === 401) reply.header('www-authenticate', 'Bearer');
}

function answerProblem(problem: Problem, requestId: string | undefined, reply: HttpReply): void {
  reply
    .status(problem.status)
    .header('content-type', 'application/problem+json; charset=utf-8')
    .send(JSON.stringify({ ...problem, ...(requestId !== undefined && { request_id: requestId }) }));
}

/** The filter of `serve`: converts every error to problem details. */
@Catch()
export class ProblemFilter extends HttpExceptionFilter {}

/** Clients of OpenAI's API repeat some statuses, unless a header marks a repetition as useless. */
function answerOpenAi(problem: Problem, thrown: unknown, reply: HttpReply): void {
  const isPermanent = problem.status >= 500 && thrown instanceof AppError && !thrown.isRetryable;
  if (isPermanent) reply.header('x-should-retry', 'false');
  reply
    .status(openAiStatus(problem))
    .header('content-type', 'application/json; charset=utf-8')
    .send(JSON.stringify(toOpenAiError(problem)));
}

/** The failure of a run is logged where it occurs, with its cause; not again here. */
function isRunFailure(thrown: unknown): boolean {
  return thrown instanceof AppError && thrown.details?.['run_id'] !== undefined;
}
