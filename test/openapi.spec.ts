import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Controller, Get, Module } from '@nestjs/common';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import type { OpenAPIObject } from '@nestjs/swagger';
import { Test } from '@nestjs/testing';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mountOpenApi } from '../src/openapi/openapi-docs.js';
import { ToolRegistry } from '../src/tool/index.js';
import { startJackdaw, type Jackdaw } from './support/jackdaw.js';

@Controller('nests')
class NestController {
  @Get(':id')
  read(): string {
    return 'twigs';
  }
}

@Module({ controllers: [NestController] })
class NestModule {}

describe('src/openapi/generated/openapi-metadata.ts', () => {
  it('is the output of `npm run openapi:metadata`', () => {
    const folder = mkdtempSync(join(tmpdir(), 'jackdaw-openapi-'));
    try {
      execFileSync(process.execPath, ['scripts/openapi-metadata.mjs', folder]);
      const fresh = readFileSync(join(folder, 'openapi-metadata.ts'), 'utf8');
      expect(readFileSync('src/openapi/generated/openapi-metadata.ts', 'utf8')).toBe(fresh);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

describe('/docs', () => {
  let app: NestFastifyApplication;
  let url: string;
  beforeAll(async () => {
    const module = await Test.createTestingModule({ imports: [NestModule] }).compile();
    app = module.createNestApplication<NestFastifyApplication>(new FastifyAdapter());
    app.setGlobalPrefix('api');
    mountOpenApi(app, () => []);
    await app.listen(0, '127.0.0.1');
    url = await app.getUrl();
  });
  afterAll(() => app.close());

  it('serves a page whose script, style and document exist', async () => {
    const page = await (await fetch(`${url}/docs`)).text();
    expect(page).not.toContain('persistAuthorization');
    const addresses = [...page.matchAll(/(?:href|src|url)[=:] ?["']([^"']+)["']/g)].map(([, address = '']) => address);
    expect(addresses).toEqual(['docs/swagger-ui.css', 'docs/swagger-ui-bundle.js', 'docs/json']);
    for (const address of addresses) {
      const reply = await fetch(new URL(address, `${url}/docs`));
      expect(reply.status).toBe(200);
      expect((await reply.text()).length).toBeGreaterThan(100);
    }
  });

  it('serves routes and authentication as JSON at /docs/json', async () => {
    const document = await (await fetch(`${url}/docs/json`)).json();
    expect(document).toMatchObject({
      info: { title: 'Jackdaw' },
      paths: { '/api/nests/{id}': { get: {} } },
      security: [{ bearer: [] }, { apiKey: [] }],
      components: { securitySchemes: { bearer: { scheme: 'bearer' } } },
    });
  });
});

describe('the document of a server', () => {
  let jackdaw: Jackdaw;
  beforeAll(async () => {
    jackdaw = await startJackdaw({ env: { DOCS_ENABLED: 'true' } });
  });
  afterAll(() => jackdaw.stop());

  async function document(): Promise<OpenAPIObject> {
    return (await jackdaw.get('/docs/json')).body as unknown as OpenAPIObject;
  }

  it('describes every current tool with its own schemas', async () => {
    const registry = jackdaw.app.get(ToolRegistry, { strict: false });
    const { openapi, paths, components } = await document();
    expect([openapi, JSON.stringify(paths)]).toEqual(['3.1.0', expect.not.stringContaining('"nullable"')]);
    for (const { definition } of registry.list()) {
      expect(paths).toHaveProperty([`/api/tools/${definition.name}/call`, 'post', 'operationId']);
      expect(components?.schemas?.[`tool.${definition.name}.arguments`]).toEqual(definition.inputSchema);
    }
    registry.register({ name: 'late', description: 'Comes late.', handler: () => 1, output: { type: 'integer' } });
    expect((await document()).components?.schemas?.['tool.late.result']).toEqual({ type: 'integer' });
    registry.unregister('late');
    expect((await document()).paths).not.toHaveProperty(['/api/tools/late/call']);
  });

  it('has no dangling references', async () => {
    const whole = await document();
    const places = [...JSON.stringify(whole).matchAll(/"\$ref":"#\/([^"]+)"/g)].map(([, path = '']) => path);
    expect(places.length).toBeGreaterThan(20);
    for (const path of new Set(places)) expect(whole).toHaveProperty(path.split('/'));
  });
});
