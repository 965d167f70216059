import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { MountedRoutesService } from './mounted-routes.service.js';

/**
 * Passes the request to the mounted routes, after the global guards of the host. It never returns: the interceptors, pipes and filters of the host,
 * which come next, could change the response, or send another one after it.
 */
@Injectable()
export class MountGuard implements CanActivate {
  constructor(private readonly routes: MountedRoutesService) {}

  canActivate(context: ExecutionContext): Promise<boolean> {
    const http = context.switchToHttp();
    this.routes.handle(http.getRequest(), http.getResponse());
    return new Promise(() => undefined);
  }
}
