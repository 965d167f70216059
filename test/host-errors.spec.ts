import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Controller, ForbiddenException, Get, Module, NotFoundException, type Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { AppError, HttpExceptionFilter } from '../src/index.js';

const cause = new Error('password hunter2');

@Controller()
class FaultController {
  @Get('busy')
  busy(): never {
    throw new AppError('SESSION_BUSY', 'The session is busy.', { cause, details: { run_id: 'r1' } });
  }

  @Get('forbidden')
  forbidden(): never {
    throw new ForbiddenException('Not yours');
  }

  @Get('custom')
  custom(): never {
    throw new NotFoundException({ reason: 'no such lamp', shelf: 7 });
  }

  @Get('broken')
  broken(): never {
    throw cause;
  }
}

@Module({ controllers: [FaultController] })
class HostModule {}

/** Status, content type and body of a route. */
type Answer = readonly [status: number, type: string | null, body: string];

class Host {
  private app: NestFastifyApplication | undefined;

  async start(filter?: Type<HttpExceptionFilter>): Promise<void> {
    this.app = await NestFactory.create<NestFastifyApplication>(HostModule, new FastifyAdapter(), { logger: false });
    if (filter) this.app.useGlobalFilters(new filter());
    await this.app.listen(0, '127.0.0.1');
  }

  async get(path: string): Promise<Answer> {
    const response = await fetch(`${await this.app!.getUrl()}/${path}`);
    const body = (await response.text()).replace(/"request_id":"[^"]+"/, '"request_id":"…"');
    return [response.status, response.headers.get('content-type'), body];
  }

  async stop(): Promise<void> {
    await this.app?.close();
  }
}

describe('errors of a host', () => {
  const plain = new Host();
  const filtered = new Host();
  beforeAll(async () => {
    await plain.start();
    await filtered.start(HttpExceptionFilter);
  });
  afterAll(async () => {
    await plain.stop();
    await filtered.stop();
  });

  it.each(['forbidden', 'custom', 'broken', 'nowhere'])('are unchanged by HttpExceptionFilter: %s', async (path) => {
    expect(await filtered.get(path)).toEqual(await plain.get(path));
  });

  it('are problem details by HttpExceptionFilter, if they are of Jackdaw', async () => {
    const [status, type, body] = await filtered.get('busy');
    expect([status, type]).toEqual([409, 'application/problem+json; charset=utf-8']);
    expect(JSON.parse(body)).toMatchObject({ status: 409, code: 'SESSION_BUSY', run_id: 'r1' });
  });

  it('have status, code and message by the default filter of Nest, without the cause', async () => {
    const [status, type, body] = await plain.get('busy');
    expect([status, type]).toEqual([409, 'application/json; charset=utf-8']);
    expect(JSON.parse(body)).toEqual({
      statusCode: 409,
      error: 'Conflict',
      code: 'SESSION_BUSY',
      message: 'The session is busy.',
      details: { run_id: 'r1' },
    });
  });
});
