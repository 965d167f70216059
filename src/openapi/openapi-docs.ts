import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { OpenAPIObject } from '@nestjs/swagger';
import { createReadStream } from 'node:fs';
import { createRequire } from 'node:module';
import { AppError, loadPackage } from '../errors/index.js';
import { VERSION } from '../kernel/index.js';
import type { RunEvent } from '../run/event/index.js';
import type { ToolDefinition } from '../tool/index.js';
import { describeOperations, operationId, operationsIn } from './operation.mapper.js';
import { describeResponses } from './response.mapper.js';
import { withTools } from './tools.mapper.js';
import { withTypeSchemas } from './type-schema.mapper.js';
import { type Bounds, type Models, validatorBounds, withBounds } from './validator-bounds.mapper.js';

/**
 * Descriptions of all event types; the type requires one entry for each. `docs/run-events.md` describes their fields.
 */
const EVENTS: Readonly<Record<RunEvent['type'], string>> = {
  'run.started': 'The run has started.',
  'run.resumed': 'The run resumes after waiting, after a stop of its server, or on another server.',
  'run.waiting': 'The run waits for a decision about `requests`. The stream ends.',
  'run.completed': 'The run has ended with its answer.',
  'run.failed': 'The run has ended with `error` and a partial result.',
  'run.cancelled': 'The run was cancelled.',
  'stream.closed': 'Live only: the server closes the stream of an unfinished run. Reconnect with the last event id.',
  'step.started': 'Live only: a step has started.',
  'step.restarted':
    'Live only: the model call is repeated. Discard the received text of this message; `text` is its new text so far.',
  'message.delta': 'Live only: the next piece of a message.',
  'message.completed': 'A whole message with its tool calls.',
  thought: 'The model’s reasoning, if the model reports it.',
  'tool.started': 'A tool call has started.',
  'tool.progress': 'Live only: progress of a tool call, as the tool reports it.',
  'tool.completed': 'The outcome of a tool call.',
  'state.changed':
    'A tool call has changed the tool’s state; `GET /api/tool-states/{id}` with `context_id` returns the new state.',
  'policy.decided': 'With `request_id`: the outcome of a decision request. With `policy`: the decision of a policy.',
  'node.started': 'A workflow node has started.',
  'node.completed': 'A workflow node has completed, failed, or was skipped.',
  usage: 'Token usage of a model call.',
  'model.switched': 'A model call failed, and another model was called.',
  'model.cached': 'The reply came from the cache; no model was called.',
  'context.compacted': 'Requests of a long run leave out old tool results, or have a summary in place of messages.',
  'history.repaired': 'The run uses a repaired history: turns were damaged, or the provider refused earlier images.',
};

const LIST = Object.entries(EVENTS).map(([type, description]) => `- \`${type}\`: ${description}`);

const EVENT_TYPE = {
  type: 'string',
  enum: Object.keys(EVENTS),
  description: `Event types of runs. A client ignores unknown types.\n\n${LIST.join('\n')}`,
};

/** Adds the schema `RunEventType`, an enumeration of all event types. */
function withEventTypes(document: OpenAPIObject): OpenAPIObject {
  const schemas = { ...document.components?.schemas, RunEventType: EVENT_TYPE };
  return { ...document, components: { ...document.components, schemas } };
}

/** Routes in the wire formats of standard clients: OpenAI, the AI SDK and AG-UI document these themselves. */
const FOREIGN = /^\/(v1|ag-ui|a2a|\.well-known|api\/agent\/ui)(\/|$)/;

function withoutForeignFormats(document: OpenAPIObject): OpenAPIObject {
  const paths = Object.entries(document.paths).filter(([path]) => !FOREIGN.test(path));
  return { ...document, paths: Object.fromEntries(paths) };
}

type Node = Readonly<Record<string, unknown>>;

/** Replaces `nullable`, which OpenAPI 3.1 no longer has, by the type `null` of JSON Schema. */
export function withNullTypes<T>(node: T): T {
  return converted(node) as T;
}

function converted(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(converted);
  if (typeof node !== 'object' || node === null) return node;
  const members = Object.entries(node).map(([key, value]) => [key, converted(value)]);
  const { nullable, ...schema } = Object.fromEntries(members) as Node;
  if (typeof nullable !== 'boolean') return nullable === undefined ? schema : { ...schema, nullable };
  return nullable ? orNull(schema) : schema;
}

function orNull(schema: Node): Node {
  const { type, enum: values, ...rest } = schema;
  if (typeof type !== 'string') return { anyOf: [schema, { type: 'null' }] };
  return {
    ...rest,
    type: [type, 'null'],
    ...(Array.isArray(values) && { enum: [...new Set([...(values as unknown[]), null])] }),
  };
}

const ASSETS = new Map([
  ['swagger-ui.css', 'text/css; charset=utf-8'],
  ['swagger-ui-bundle.js', 'text/javascript; charset=utf-8'],
]);

/**
 * Uses relative URLs, so that it also works below a proxy's path. @param base relative path from the page's URL to
 * `/docs/`
 */
const page = (base: string) => `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>Jackdaw API</title>
    <link rel="stylesheet" href="${base}swagger-ui.css" />
  </head>
  <body>
    <div id="swagger-ui"></div>
    <script src="${base}swagger-ui-bundle.js"></script>
    <script>
      SwaggerUIBundle({ url: '${base}json', dom_id: '#swagger-ui', deepLinking: true });
    </script>
  </body>
</html>
`;

/**
 * Serves the OpenAPI document at `/docs/json` and Swagger UI at `/docs`; call it before `listen`. The first request
 * creates the document: loading `@nestjs/swagger` takes 100 ms and 20 MB.
 * @param tools the present tools, read at each request; each has an operation
 */
export function mountOpenApi(app: NestFastifyApplication, tools: () => readonly ToolDefinition[]): void {
  const fastify = app.getHttpAdapter().getInstance();
  let document: Promise<OpenAPIObject> | undefined;

  fastify.get('/docs', ({ url }, reply) => {
    const isFolder = url.split('?', 1)[0]!.endsWith('/');
    return reply.type('text/html; charset=utf-8').send(page(isFolder ? '' : 'docs/'));
  });
  fastify.get('/docs/json', async () => withTools(await (document ??= createDocument(app)), tools()));
  for (const [file, type] of ASSETS) {
    fastify.get(`/docs/${file}`, (_request, reply) => {
      const path = assetPath(file);
      return reply.type(type).header('cache-control', 'public, max-age=86400').send(createReadStream(path));
    });
  }
}

/** Swagger UI is a dependency of @nestjs/swagger. @throws AppError `NOT_FOUND` in a bundle, which does not contain it */
function assetPath(file: string): string {
  try {
    const { resolve } = createRequire(import.meta.url);
    return createRequire(resolve('@nestjs/swagger')).resolve(`swagger-ui-dist/${file}`);
  } catch (cause) {
    throw new AppError('NOT_FOUND', 'Swagger UI is not in this bundle: leave @nestjs/swagger outside of it.', {
      cause,
    });
  }
}

/**
 * Gives the types of the routes to `@nestjs/swagger`, which has them for every document of the process.
 * @throws AppError `CONFIG_INVALID` without the package
 */
export async function loadTypes(purpose = 'openapi: true'): Promise<Bounds> {
  const [{ SwaggerModule }, { default: metadata }] = await Promise.all([
    loadPackage('@nestjs/swagger', purpose, () => import('@nestjs/swagger')),
    import('./generated/openapi-metadata.js'),
  ]);
  const plugin: Record<string, object> = await metadata();
  const { models } = plugin['@nestjs/swagger'] as { readonly models: Models };
  const bounds = await validatorBounds(models);
  await SwaggerModule.loadPluginMetadata(() => Promise.resolve(withBounds(plugin, models, bounds)));
  return bounds;
}

async function createDocument(app: NestFastifyApplication): Promise<OpenAPIObject> {
  const bounds = await loadTypes('DOCS_ENABLED');
  const { DocumentBuilder, SwaggerModule } = await import('@nestjs/swagger');
  // OpenAPI 3.1 uses JSON Schema, as tools do.
  const shape = new DocumentBuilder()
    .setOpenAPIVersion('3.1.0')
    .setTitle('Jackdaw')
    .setDescription('LLM agents over REST. Errors are problem details (RFC 9457) with a `code`.')
    .setVersion(VERSION)
    .setLicense('MIT', 'https://spdx.org/licenses/MIT.html')
    .addBearerAuth({
      type: 'http',
      scheme: 'bearer',
      bearerFormat: 'API key',
      description:
        'An API key. Not required if the server has no keys, neither in `API_KEYS` nor created by `POST /api/keys`',
    })
    .addApiKey({ type: 'apiKey', in: 'header', name: 'X-API-Key', description: 'The same API key.' }, 'apiKey')
    .addSecurityRequirements('bearer')
    .addSecurityRequirements('apiKey')
    // Relative to this document, so that a proxy's path before `/docs/json` is part of it.
    .addServer('..', 'This server');
  const options = { operationIdFactory: operationId };
  const all = withoutForeignFormats(SwaggerModule.createDocument(app, shape.build(), options));
  const document = withTypeSchemas(withNullTypes(all), bounds);
  const operations = operationsIn(app, document);
  describeOperations(operations, document);
  describeResponses(operations, document);
  return withEventTypes(document);
}
