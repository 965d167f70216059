import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ServerConfig } from '../config/index.js';
import { AppError, type ProblemFilter } from '../errors/index.js';
import { fieldMistake, newId } from '../kernel/index.js';
import { answerFault, MCP_PATH } from '../mcp-server/index.js';
import { parseJsonBody } from './json-body.parser.js';
import { refuseWrongRequests } from './problem-answers.js';
import { addBodyHooks, type ServiceLookup } from './request-body-hooks.js';

/** Maximum length of an id in a path, in UTF-16 units: a session id has 128 characters of up to two. */
const MAX_ID_LENGTH = 256;

/** Options of the Fastify instance of the server, and of those whose routes a host mounts. */
export function fastifyOptions({ bodyLimitBytes }: ServerConfig, problems: ProblemFilter) {
  return {
    bodyLimit: bodyLimitBytes,
    // Never the client's own id: a client could imitate the log lines of another client's request.
    genReqId: () => newId(),
    routerOptions: { maxParamLength: MAX_ID_LENGTH, ignoreTrailingSlash: true },
    frameworkErrors: (error: Error, _request: unknown, reply: FastifyReply) => problems.answer(error, reply),
  };
}

/**
 * The rules for requests and bodies, which are the same in the server and in a host. Call it before the routes are added.
 */
export function addHttpRules(fastify: FastifyInstance, find: ServiceLookup, problems: ProblemFilter): void {
  fastify.removeAllContentTypeParsers();
  fastify.addHook('onRoute', (route) => {
    if (route.url === `/${MCP_PATH}`) route.errorHandler = answerFault;
  });
  refuseWrongRequests(fastify, problems);
  addBodyHooks(fastify, find);
  fastify.addHook('onRequest', (request, reply, done) => {
    if (request.raw.url?.includes('%00')) problems.answer(nulInUrl(request), reply);
    else done();
  });
  const { bodyLimit } = fastify.initialConfig;
  fastify.addContentTypeParser<Buffer>('application/json', { parseAs: 'buffer', bodyLimit: bodyLimit! }, parseJsonBody);
}

/** No id contains NUL, and databases reject it differently: answer with a validation error. */
function nulInUrl({ params, query }: FastifyRequest): AppError {
  const values = Object.entries({ ...(query as object), ...(params as object) });
  const places = values.filter(([, value]) => String(value).includes('\0'));
  const message = 'must not contain a NUL character (%00)';
  const errors = places.map(([name, value]) => fieldMistake(name, message, 'isWithoutNul', value));
  return new AppError('VALIDATION_FAILED', 'The URL contains a NUL character (%00); no id contains one.', {
    details: { errors: errors.length > 0 ? errors : [fieldMistake('path', message, 'isWithoutNul', '')] },
  });
}
