// Tools of a hybrid application (GraphQL over HTTP, and TCP messages), and of one with TCP messages only. Prints their answers as JSON.
import 'reflect-metadata';
import { Controller, Inject, Injectable, Module, Scope } from '@nestjs/common';
import { NestFactory, REQUEST } from '@nestjs/core';
import { Args, GraphQLModule, Query, Resolver } from '@nestjs/graphql';
import { MercuriusDriver, type MercuriusDriverConfig } from '@nestjs/mercurius';
import {
  ClientProxyFactory,
  MessagePattern,
  type MicroserviceOptions,
  Payload,
  Transport,
} from '@nestjs/microservices';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { AgentService, JackdawModule, Tool, type ToolRequest } from 'jackdaw';
import { ClsModule, ClsService } from 'nestjs-cls';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { firstValueFrom } from 'rxjs';

@Injectable()
class StaticTools {
  constructor(private readonly cls: ClsService) {}

  @Tool({ description: 'The user of the request.', effect: 'read' })
  user(): string {
    return `user ${this.cls.get('user')}`;
  }
}

@Injectable({ scope: Scope.REQUEST })
class ScopedTools {
  constructor(@Inject(REQUEST) private readonly request: ToolRequest) {}

  @Tool({ description: 'The tenant of the run.', effect: 'read' })
  tenant(): string {
    return `tenant ${this.request.tenant}`;
  }
}

@Injectable({ scope: Scope.TRANSIENT })
class TransientTools {
  @Tool({ description: 'A constant.', effect: 'read' })
  constant(): string {
    return 'constant';
  }
}

@Injectable()
class Assistant {
  constructor(private readonly agents: AgentService) {}

  async ask(query: string): Promise<string> {
    const { result } = await this.agents.chat({ id: 'ann', tenant: 'acme', roles: ['user'] }, { query });
    return String(result);
  }
}

@Resolver()
class AssistantResolver {
  constructor(private readonly assistant: Assistant) {}

  @Query(() => String)
  ask(@Args('query', { type: () => String }) query: string): Promise<string> {
    return this.assistant.ask(query);
  }
}

interface Question {
  readonly user: string;
  readonly query: string;
}

@Controller()
class AssistantController {
  constructor(
    private readonly assistant: Assistant,
    private readonly cls: ClsService,
  ) {}

  @MessagePattern('ask')
  ask(@Payload() { user, query }: Question): Promise<string> {
    return this.cls.runWith({ user } as never, () => this.assistant.ask(query));
  }
}

function shared() {
  const config = { DATABASE_URL: 'sqlite::memory:', LLM_PROVIDER: 'offline' };
  const setup = (cls: ClsService, { headers }: { headers: Record<string, string> }) =>
    cls.set('user', headers['x-user']);
  return {
    imports: [
      JackdawModule.forRoot({ config, builtinTools: false }),
      ClsModule.forRoot({ global: true, middleware: { mount: true, setup } }),
    ],
    controllers: [AssistantController],
    providers: [Assistant, StaticTools, ScopedTools, TransientTools],
  };
}

class HybridModule {}
const { imports, controllers, providers } = shared();
const graphql = GraphQLModule.forRoot<MercuriusDriverConfig>({ driver: MercuriusDriver, autoSchemaFile: true });
Module({ imports: [...imports, graphql], controllers, providers: [...providers, AssistantResolver] })(HybridModule);

class MessageModule {}
Module(shared())(MessageModule);

async function tcp() {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, 'close');
  return { transport: Transport.TCP as const, options: { host: '127.0.0.1', port } };
}

const QUERIES = ['call user', 'call tenant', 'call constant'];

async function messages(options: Awaited<ReturnType<typeof tcp>>): Promise<unknown[]> {
  const client = ClientProxyFactory.create(options);
  const send = (query: string) => firstValueFrom(client.send<string, Question>('ask', { user: 'bob', query }));
  const answers = await Promise.all(QUERIES.map(send));
  await client.close();
  return answers;
}

async function graphqlAnswers(url: string): Promise<unknown[]> {
  const send = async (query: string) => {
    const headers = { 'content-type': 'application/json', 'x-user': 'eve' };
    const body = JSON.stringify({ query: `{ ask(query: "${query}") }` });
    const reply = await fetch(`${url}/graphql`, { method: 'POST', headers, body });
    const { data } = (await reply.json()) as { data: { ask: string } };
    return data.ask;
  };
  return Promise.all(QUERIES.map(send));
}

const log = { logger: ['error', 'warn'] as ('error' | 'warn')[] };
const hybrid = await NestFactory.create(HybridModule, new FastifyAdapter(), log);
const place = await tcp();
hybrid.connectMicroservice<MicroserviceOptions>(place);
await hybrid.startAllMicroservices();
await hybrid.listen(0, '127.0.0.1');
const answers = [await graphqlAnswers(await hybrid.getUrl()), await messages(place)];
await hybrid.close();

const own = await tcp();
const only = await NestFactory.createMicroservice<MicroserviceOptions>(MessageModule, { ...own, ...log });
await only.listen();
answers.push(await messages(own));
await only.close();
console.log(JSON.stringify(answers));
