import {
  type ArgumentsHost,
  Body,
  type CallHandler,
  type CanActivate,
  Catch,
  Controller,
  type DynamicModule,
  type ExceptionFilter,
  type ExecutionContext,
  Injectable,
  type INestApplication,
  Module,
  type NestInterceptor,
  Post,
  type Provider,
  UnauthorizedException,
  ValidationPipe,
  VersioningType,
} from '@nestjs/common';
import { APP_GUARD, NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import compression from 'compression';
import helmet from 'helmet';
import { map, type Observable } from 'rxjs';
import { JackdawModule, type HostRequest, type JackdawOptions, type Principal, Tool } from '../../src/index.js';

export const PLATFORMS = ['express', 'fastify'] as const;
export type Platform = (typeof PLATFORMS)[number];

/** The paths of a mount in the host: its global prefix and its version come first. */
export const HOST_PREFIX = '/backend/v1';

interface User {
  readonly sub: string;
  readonly company: string;
}

/** A host's guard: a JWT that is its own content. Without one it answers in the host's form. */
@Injectable()
export class HostGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<{ headers: Record<string, string>; user?: User | undefined }>();
    const { authorization, cookie } = request.headers;
    const [, sub] = /^(?:Bearer |sid=)(\w+)$/.exec(authorization ?? cookie ?? '') ?? [];
    if (sub === undefined) throw new UnauthorizedException('the host says no');
    // A user of the host without access to agents.
    request.user = sub === 'guest' ? undefined : { sub, company: 'acme' };
    return true;
  }
}

export function principalOf({ user }: HostRequest): Principal | undefined {
  if (user === undefined) return undefined;
  const { sub, company } = user as User;
  return { id: sub, tenant: company, roles: ['admin', 'operator'] };
}

class EnvelopeInterceptor implements NestInterceptor {
  intercept(_context: ExecutionContext, next: CallHandler): Observable<unknown> {
    return next.handle().pipe(map((data: unknown) => ({ data })));
  }
}

interface HostReply {
  status(code: number): HostReply;
  send(body: unknown): unknown;
}

@Catch()
class EveryErrorFilter implements ExceptionFilter {
  catch(_error: unknown, host: ArgumentsHost): void {
    host.switchToHttp().getResponse<HostReply>().status(418).send({ oops: true });
  }
}

@Controller('orders')
class OrderController {
  @Post()
  order(@Body() body: unknown): unknown {
    return body;
  }
}

export class StockTools {
  @Tool({ description: 'Counts lamps.', effect: 'read' })
  lamps(): unknown {
    return { lamps: 7 };
  }
}

export interface HostAdditions {
  readonly providers?: readonly Provider[];
  /** Called with the application before it listens. */
  readonly before?: (app: INestApplication) => void;
}

/** An application with a global guard, interceptor, pipe, filter, prefix and version, `helmet` and `compression`. */
export async function startHost(
  platform: Platform,
  options: JackdawOptions,
  mounts: readonly (DynamicModule | Promise<DynamicModule>)[],
  { providers = [], before }: HostAdditions = {},
): Promise<INestApplication> {
  @Module({
    imports: [JackdawModule.forRoot(options), ...mounts],
    controllers: [OrderController],
    providers: [{ provide: APP_GUARD, useClass: HostGuard }, ...providers],
  })
  class Shop {}
  const settings = { logger: false, abortOnError: false } as const;
  const app: INestApplication =
    platform === 'fastify'
      ? await NestFactory.create<NestFastifyApplication>(Shop, new FastifyAdapter(), settings)
      : await NestFactory.create(Shop, settings);
  if (platform === 'fastify') {
    const { default: fastifyHelmet } = await import('@fastify/helmet');
    await (app as NestFastifyApplication).register(fastifyHelmet as never);
  } else {
    app.use(helmet());
    app.use(compression({ threshold: 0 }));
  }
  app.setGlobalPrefix('backend');
  app.enableVersioning({ type: VersioningType.URI, defaultVersion: '1' });
  app.useGlobalInterceptors(new EnvelopeInterceptor());
  app.useGlobalPipes(new ValidationPipe({ whitelist: true, forbidNonWhitelisted: true, forbidUnknownValues: false }));
  app.useGlobalFilters(new EveryErrorFilter());
  before?.(app);
  await app.listen(0, '127.0.0.1');
  return app;
}
