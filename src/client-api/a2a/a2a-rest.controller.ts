import { Body, Controller, Delete, Get, Headers, HttpCode, Param, Post, Query, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { disconnectSignal } from '../../api/index.js';
import type { Principal } from '../../kernel/index.js';
import { CurrentPrincipal, Requires } from '../../security/index.js';
import { A2aError, toRestError } from './a2a.error.js';
import { A2aReplyService, type ReplyForm } from './a2a-reply.service.js';
import { A2aService } from './a2a.service.js';
import { versionOf } from './a2a-version.policy.js';

const REST: ReplyForm = {
  contentType: 'application/a2a+json',
  result: (result) => result,
  frame: (response) => response,
  errorFrame: (fault) => `event: error\ndata: ${JSON.stringify(toRestError(fault))}\n\n`,
  error: toRestError,
  statusOf: ({ status }) => status,
};

const MESSAGES: Readonly<Record<string, string>> = {
  'message:send': 'SendMessage',
  'message:stream': 'SendStreamingMessage',
};
const ACTION = /^(.+):(cancel|subscribe)$/;
const NUMBERS: readonly string[] = ['pageSize', 'historyLength'];

type Given = Readonly<Record<string, unknown>>;

/** The caller of an operation, the agent, and the version that the request asks for. */
interface RestCall {
  readonly principal: Principal;
  readonly agent: string;
  readonly version: string | undefined;
  readonly query: Given;
  readonly reply: FastifyReply;
}

/** A2A over HTTP and JSON. Its wire format is not part of our document. */
@Requires('chat', 'runs:read', 'runs:write')
@Controller('a2a/:agent')
export class A2aRestController {
  constructor(
    private readonly a2a: A2aService,
    private readonly replies: A2aReplyService,
  ) {}

  /** Sends a message (`message:send`), or sends it and streams the task (`message:stream`). */
  @Post(':operation')
  @HttpCode(200)
  send(
    @CurrentPrincipal() principal: Principal,
    @Param() { agent = '', operation = '' }: Readonly<Record<string, string>>,
    @Body() body: unknown,
    @Query() query: Given,
    @Res() reply: FastifyReply,
    @Headers('a2a-version') version?: string,
  ): Promise<void> {
    const method = MESSAGES[operation] ?? `POST ${operation}`;
    return this.perform({ principal, agent, version, query, reply }, method, body);
  }

  /** The tasks of an agent. */
  @Get('tasks')
  list(
    @CurrentPrincipal() principal: Principal,
    @Param('agent') agent: string,
    @Query() query: Given,
    @Res() reply: FastifyReply,
    @Headers('a2a-version') version?: string,
  ): Promise<void> {
    return this.perform({ principal, agent, version, query, reply }, 'ListTasks', typed(query));
  }

  /** A task. */
  @Get('tasks/:id')
  get(
    @CurrentPrincipal() principal: Principal,
    @Param() { agent = '', id }: Readonly<Record<string, string>>,
    @Query() query: Given,
    @Res() reply: FastifyReply,
    @Headers('a2a-version') version?: string,
  ): Promise<void> {
    return this.perform({ principal, agent, version, query, reply }, 'GetTask', { ...typed(query), id });
  }

  /** Cancels a task (`<id>:cancel`), or follows it (`<id>:subscribe`). */
  @Post('tasks/:action')
  @HttpCode(200)
  act(
    @CurrentPrincipal() principal: Principal,
    @Param() { agent = '', action = '' }: Readonly<Record<string, string>>,
    @Query() query: Given,
    @Res() reply: FastifyReply,
    @Headers('a2a-version') version?: string,
  ): Promise<void> {
    const [, id, name] = ACTION.exec(action) ?? [];
    const method = name === 'cancel' ? 'CancelTask' : name === 'subscribe' ? 'SubscribeToTask' : `POST tasks/${action}`;
    return this.perform({ principal, agent, version, query, reply }, method, { id });
  }

  /** The extended card, which no agent has. */
  @Get('extendedAgentCard')
  card(
    @CurrentPrincipal() principal: Principal,
    @Param('agent') agent: string,
    @Query() query: Given,
    @Res() reply: FastifyReply,
    @Headers('a2a-version') version?: string,
  ): Promise<void> {
    return this.perform({ principal, agent, version, query, reply }, 'GetExtendedAgentCard', {});
  }

  /** Push notifications, which are not supported. */
  @Post('tasks/:id/pushNotificationConfigs')
  pushCreate(@Res() reply: FastifyReply): Promise<void> {
    return this.refusePush(reply);
  }

  /** As above. */
  @Get('tasks/:id/pushNotificationConfigs')
  pushList(@Res() reply: FastifyReply): Promise<void> {
    return this.refusePush(reply);
  }

  /** As above. */
  @Get('tasks/:id/pushNotificationConfigs/:config')
  pushGet(@Res() reply: FastifyReply): Promise<void> {
    return this.refusePush(reply);
  }

  /** As above. */
  @Delete('tasks/:id/pushNotificationConfigs/:config')
  pushDelete(@Res() reply: FastifyReply): Promise<void> {
    return this.refusePush(reply);
  }

  private perform(
    { principal, agent, version, query, reply }: RestCall,
    method: string,
    params: unknown,
  ): Promise<void> {
    const signal = disconnectSignal(reply);
    const perform = async () => {
      assertCurrent(version, query['A2A-Version']);
      return this.a2a.perform({ principal, agent, method, params }, signal);
    };
    return this.replies.send(reply, REST, perform, signal);
  }

  private refusePush(reply: FastifyReply): Promise<void> {
    return this.replies.send(reply, REST, refusePush, disconnectSignal(reply));
  }
}

/** @throws A2aError `PUSH_NOTIFICATION_NOT_SUPPORTED` */
async function refusePush(): Promise<never> {
  throw new A2aError('PUSH_NOTIFICATION_NOT_SUPPORTED', 'Push notifications are not supported: subscribe to the task.');
}

/** The interface of 0.3 is JSON-RPC only. @throws A2aError `VERSION_NOT_SUPPORTED` */
function assertCurrent(version: unknown, parameter: unknown): void {
  if (versionOf(version, parameter) !== '0.3') return;
  const message = 'This interface has version 1.0 of A2A: send the header "A2A-Version: 1.0".';
  throw new A2aError('VERSION_NOT_SUPPORTED', message, { supportedVersions: '1.0' });
}

/** The values of a query, which are texts, in their types; an invalid one stays a text and is refused. */
function typed({ 'A2A-Version': _version, ...query }: Given): Given {
  return Object.fromEntries(
    Object.entries(query).map(([name, value]) => {
      if (NUMBERS.includes(name) && typeof value === 'string' && /^\d{1,9}$/.test(value)) return [name, Number(value)];
      return [name, value === 'true' ? true : value === 'false' ? false : value];
    }),
  );
}
