import type { FastifyReply, FastifyRequest } from 'fastify';
import { AppError, type ErrorCode, ProblemFilter } from '../errors/index.js';

const PARSE_ERROR = -32_700;
const REFUSED = -32_000;
const STATUS: Partial<Record<ErrorCode, number>> = { PAYLOAD_TOO_LARGE: 413, UNSUPPORTED_MEDIA_TYPE: 415 };

/** Refusals before the body is read: an MCP client handles their HTTP status. */
const REFUSALS: readonly ErrorCode[] = ['UNAUTHENTICATED', 'FORBIDDEN', 'REQUEST_TIMEOUT'];
const problems = new ProblemFilter();

/** Fastify error handler for errors before routing: for an error of the body, MCP clients expect a JSON-RPC error. */
export function answerFault(error: Error, _request: FastifyRequest, reply: FastifyReply): void {
  if (error instanceof AppError && REFUSALS.includes(error.code)) return problems.answer(error, reply);
  const { statusCode } = error as { statusCode?: number };
  const status = error instanceof AppError ? (STATUS[error.code] ?? 400) : (statusCode ?? 500);
  const isBad = error instanceof AppError && error.code === 'MALFORMED_JSON';
  const message = status < 500 ? error.message : 'Internal server error';
  void reply
    .status(status)
    .header('content-type', 'application/json')
    .send(JSON.stringify({ jsonrpc: '2.0', error: { code: isBad ? PARSE_ERROR : REFUSED, message }, id: null }));
}
