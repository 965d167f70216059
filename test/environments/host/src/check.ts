import 'reflect-metadata';
import { HttpException, Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { AgentService, AppError, JackdawModule, Tool } from 'jackdaw';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const ANN = { id: 'ann', tenant: 'default', roles: ['user'] };

@Injectable()
class Shelf {
  readonly titles = ['Emma', 'Persuasion'];
}

@Injectable()
class BooksTools {
  constructor(private readonly shelf: Shelf) {}

  @Tool({ description: 'Finds books by title.', effect: 'read', paramsDescription: 'Words of the title' })
  findBooks(words: string): string[] {
    return this.shelf.titles.filter((title) => title.includes(words));
  }
}

async function start() {
  const config = { DATA_DIR: mkdtempSync(join(tmpdir(), 'jackdaw-test-')), LLM_PROVIDER: 'offline' };
  @Module({ imports: [JackdawModule.forRoot({ config, builtinTools: false })], providers: [Shelf, BooksTools] })
  class AppModule {}
  return NestFactory.createApplicationContext(AppModule, { logger: ['error'], abortOnError: false });
}

/** Two applications with a folder each, one of them never closed, and one that is closed in the tick of its start. */
export async function check(): Promise<object> {
  const [one, other] = await Promise.all([start(), start()]);
  const { result, run_id } = await one.get(AgentService).chat(ANN, { query: 'call findBooks Emma' });
  const unknown = await other
    .get(AgentService)
    .outcome(ANN, run_id)
    .catch((error: unknown) => error);
  await other.close();
  await (await start()).close();
  return {
    result,
    isAppError: unknown instanceof AppError,
    isHttpException: unknown instanceof HttpException,
  };
}
