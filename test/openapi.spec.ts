import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Controller, Get, Module } from '@nestjs/common';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { Test } from '@nestjs/testing';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mountOpenApi } from '../src/openapi.js';

@Controller('nests')
class NestController {
  @Get(':id')
  read(): string {
    return 'twigs';
  }
}

@Module({ controllers: [NestController] })
class NestModule {}

describe('src/openapi-metadata.ts', () => {
  it('is what `npm run openapi:metadata` writes', () => {
    const folder = mkdtempSync(join(tmpdir(), 'jackdaw-openapi-'));
    try {
      execFileSync(process.execPath, ['scripts/openapi-metadata.mjs', folder]);
      const fresh = readFileSync(join(folder, 'openapi-metadata.ts'), 'utf8');
      expect(readFileSync('src/openapi-metadata.ts', 'utf8')).toBe(fresh);
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
    mountOpenApi(app);
    await app.listen(0, '127.0.0.1');
    url = await app.getUrl();
  });
  afterAll(() => app.close());

  it('is a page whose script, style and document are there', async () => {
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

  it('/json describes the routes and how to authenticate', async () => {
    const document = await (await fetch(`${url}/docs/json`)).json();
    expect(document).toMatchObject({
      info: { title: 'Jackdaw' },
      paths: { '/api/nests/{id}': { get: {} } },
      security: [{ bearer: [] }],
      components: { securitySchemes: { bearer: { scheme: 'bearer' } } },
    });
  });
});
