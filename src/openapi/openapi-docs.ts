import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { OpenAPIObject } from '@nestjs/swagger';
import { createReadStream } from 'node:fs';
import { createRequire } from 'node:module';
import { AppError, loadPackage } from '../errors/index.js';
import { VERSION } from '../kernel/index.js';
import { withEventTypes } from './event.mapper.js';
import { withNullTypes } from './null.mapper.js';
import { describeOperations, operationId, operationsIn } from './operation.mapper.js';
import { describeResponses } from './response.mapper.js';
import { withTools } from './tools.mapper.js';
import { withTypeSchemas } from './type-schema.mapper.js';
import { type Bounds, validatorBounds, withBounds, type Models } from './validator-bounds.mapper.js';
import type { ToolDefinition } from '../tool/index.js';

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
  const document = withTypeSchemas(withNullTypes(SwaggerModule.createDocument(app, shape.build(), options)), bounds);
  const operations = operationsIn(app, document);
  describeOperations(operations, document);
  describeResponses(operations, document);
  return withEventTypes(document);
}
