import { beforeAll, describe, expect, it } from '@jest/globals';
import type { INestApplication } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { AppModule } from '../src/app.module.js';

/** The suite of the application from before Jackdaw. It closes nothing. */
describe('the library', () => {
  let app: INestApplication<Server>;
  let url = '';
  let headers: Record<string, string> = {};

  beforeAll(async () => {
    const module = await Test.createTestingModule({ imports: [AppModule] }).compile();
    app = module.createNestApplication();
    await app.listen(0, '127.0.0.1');
    app.getHttpServer().unref();
    url = `http://127.0.0.1:${(app.getHttpServer().address() as AddressInfo).port}`;
    const body = JSON.stringify({ name: 'ann', password: 'ann' });
    const login = await fetch(`${url}/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    });
    const { data } = (await login.json()) as { data: { token: string } };
    headers = { authorization: `Bearer ${data.token}`, 'content-type': 'application/json', connection: 'close' };
  });

  it('requires a token', async () => {
    const reply = await fetch(`${url}/books`, { headers: { connection: 'close' } });
    expect(reply.status).toBe(401);
    expect(await reply.json()).toEqual({ error: { status: 401, message: 'Send the token of POST /login.' } });
  });

  it('finds books', async () => {
    const reply = await fetch(`${url}/books?words=austen`, { headers });
    expect(await reply.json()).toMatchObject({ data: [{ title: 'Emma' }, { title: 'Persuasion' }] });
  });

  it('refuses unknown fields', async () => {
    const reply = await fetch(`${url}/books/1/loan`, { method: 'POST', headers, body: '{"weeks":2}' });
    expect([reply.status, await reply.json()]).toEqual([
      400,
      { error: { status: 400, message: ['property weeks should not exist'] } },
    ]);
  });
});
