import 'reflect-metadata';
import { HttpException, Inject, Injectable, Module } from '@nestjs/common';
import { NestFactory, Reflector } from '@nestjs/core';
import { AgentService, AppError, JackdawModule, Tool } from 'jackdaw';

const ANN = { id: 'ann', tenant: 'default', roles: ['user'] };
const config = { DATABASE_URL: 'sqlite::memory:', LLM_PROVIDER: 'offline' };
const input = { type: 'object', properties: { words: { type: 'string' } }, required: ['words'] };

@Injectable()
class Shelf {
  readonly titles = ['Emma', 'Persuasion'];
}

/** For compilers that write no metadata: the types of parameters are named. */
@Injectable()
class BooksTools {
  constructor(@Inject(Shelf) private readonly shelf: Shelf) {}

  @Tool({ description: 'Finds books by title.', effect: 'read', input })
  findBooks({ words }: { words: string }): string[] {
    return this.shelf.titles.filter((title) => title.includes(words));
  }
}

@Module({ imports: [JackdawModule.forRoot({ config, builtinTools: false })], providers: [Shelf, BooksTools] })
class AppModule {}

async function main() {
  const app = await NestFactory.createApplicationContext(AppModule, { logger: ['error'], abortOnError: false });
  const agents = app.get(AgentService);
  const { result } = await agents.chat(ANN, { query: 'call findBooks {"words":"Emma"}' });
  const unknown = await agents.outcome(ANN, 'nothing').catch((error: unknown) => error);
  const identities = [
    unknown instanceof AppError,
    unknown instanceof HttpException,
    app.get(Reflector) instanceof Reflector,
  ];
  console.log(JSON.stringify([result, ...identities]));
}

void main();
