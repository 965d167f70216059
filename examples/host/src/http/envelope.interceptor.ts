import { CallHandler, ExecutionContext, Injectable, NestInterceptor, SetMetadata } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { map, type Observable } from 'rxjs';

const IS_BARE = 'isBare';

/** A route whose answer has no envelope, such as an event stream. */
export const Bare = () => SetMetadata(IS_BARE, true);

/** Puts each answer into `{ data }`. */
@Injectable()
export class EnvelopeInterceptor implements NestInterceptor {
  constructor(private readonly reflector: Reflector) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    if (this.reflector.get<boolean>(IS_BARE, context.getHandler())) return next.handle();
    return next.handle().pipe(map((data: unknown) => ({ data })));
  }
}
