import { Module, type NestModule } from '@nestjs/common';
import { HostRoutesService } from './host-routes.service.js';

/** One for all mounts of a host. */
@Module({ providers: [HostRoutesService], exports: [HostRoutesService] })
export class HostRoutesModule implements NestModule {
  constructor(private readonly routes: HostRoutesService) {}

  /** Nest calls it before it adds the routes. */
  configure(): void {
    this.routes.prepare();
  }
}
