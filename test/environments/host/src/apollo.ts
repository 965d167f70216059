// GraphQL with Apollo on Express, and the REST API beside it. Prints the answers, each with the guards that ran for it, as JSON.
import 'reflect-metadata';
import { ApolloDriver, type ApolloDriverConfig } from '@nestjs/apollo';
import {
  type CanActivate,
  createParamDecorator,
  type ExecutionContext,
  Injectable,
  Module,
  SetMetadata,
  UnauthorizedException,
  UseGuards,
} from '@nestjs/common';
import { APP_GUARD, NestFactory, Reflector } from '@nestjs/core';
import { Args, GqlExecutionContext, GraphQLModule, Query, Resolver } from '@nestjs/graphql';
import { AgentService, JackdawHttpModule, JackdawModule, type Principal, Tool } from 'jackdaw';

interface UserRequest {
  readonly headers: Readonly<Record<string, string | undefined>>;
  user?: Principal;
}

const guarded: string[] = [];

/** The request of a route and of a resolver. */
function requestOf(context: ExecutionContext): UserRequest {
  if (context.getType<string>() !== 'graphql') return context.switchToHttp().getRequest<UserRequest>();
  return GqlExecutionContext.create(context).getContext<{ req: UserRequest }>().req;
}

/** The login of the application, which reads a header: a call of a tool has none. */
@Injectable()
class LoginGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    guarded.push(`global ${context.getType<string>()}`);
    const request = requestOf(context);
    const id = request.headers['x-user'];
    if (!id) throw new UnauthorizedException();
    request.user = { id, tenant: 'acme', roles: ['user'] };
    return true;
  }
}

@Injectable()
class ShelfGuard implements CanActivate {
  constructor(private readonly reflector: Reflector) {}

  canActivate(context: ExecutionContext): boolean {
    const shelf = this.reflector.get<string>('shelf', context.getHandler());
    guarded.push(`${shelf} ${context.getType<string>()}`);
    return shelf !== 'closed';
  }
}

@Injectable()
class BooksTools {
  @Tool({ description: 'Finds books by title.', effect: 'read', paramsDescription: 'Words of the title' })
  @UseGuards(ShelfGuard)
  @SetMetadata('shelf', 'open')
  findBooks(words: string): string[] {
    return ['Emma', 'Persuasion'].filter((title) => title.includes(words));
  }

  @Tool({ description: 'Reads a letter.', effect: 'read' })
  @UseGuards(ShelfGuard)
  @SetMetadata('shelf', 'closed')
  readLetter(): string {
    return 'Dear Jane';
  }
}

const User = createParamDecorator((_: unknown, context: ExecutionContext) => requestOf(context).user);

@Resolver()
class AssistantResolver {
  constructor(private readonly agents: AgentService) {}

  @Query(() => String)
  @UseGuards(ShelfGuard)
  @SetMetadata('shelf', 'resolver')
  async ask(@User() user: Principal, @Args('query', { type: () => String }) query: string): Promise<string> {
    const { result } = await this.agents.chat(user, { query });
    return String(result);
  }
}

@Module({
  imports: [
    JackdawModule.forRoot({
      config: { DATABASE_URL: 'sqlite::memory:', LLM_PROVIDER: 'offline' },
      builtinTools: false,
    }),
    JackdawHttpModule.forRoot({ prefix: 'assistant', principal: ({ user }: UserRequest) => user }),
    GraphQLModule.forRoot<ApolloDriverConfig>({ driver: ApolloDriver, autoSchemaFile: true }),
  ],
  providers: [BooksTools, AssistantResolver, { provide: APP_GUARD, useClass: LoginGuard }],
})
class AppModule {}

const app = await NestFactory.create(AppModule, { logger: ['error', 'warn'] });
app.enableShutdownHooks();
await app.listen(0, '127.0.0.1');
const url = await app.getUrl();

/** The status, the answer or the error, and the guards that ran for it. */
async function post(path: string, body: object, user?: string): Promise<readonly unknown[]> {
  guarded.length = 0;
  const headers = { 'content-type': 'application/json', ...(user !== undefined && { 'x-user': user }) };
  const reply = await fetch(`${url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
  const { data, errors, result, message } = (await reply.json()) as Record<string, any>;
  return [reply.status, data?.ask ?? errors?.[0].extensions.code ?? result ?? message, [...guarded]];
}

const ask = (query: string) => ({ query: 'query Ask($query: String!) { ask(query: $query) }', variables: { query } });
const answers = {
  graphql: await post('/graphql', ask('call findBooks Emma'), 'eve'),
  refused: await post('/graphql', ask('call readLetter'), 'eve'),
  anonymous: await post('/graphql', ask('call findBooks Emma')),
  rest: await post('/assistant/agent/chat', { query: 'call findBooks Emma' }, 'bob'),
  restAnonymous: await post('/assistant/agent/chat', { query: 'call findBooks Emma' }),
};
await app.close();
console.log(JSON.stringify(answers));
