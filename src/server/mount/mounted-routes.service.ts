import { Inject, Injectable, type BeforeApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { ExternalContextCreator, ModuleRef, ModulesContainer } from '@nestjs/core';
import { loadPackage } from '../../errors/index.js';
import { HostAuthenticator, type Mount } from './mount.js';
import { takeOver } from './host-exchange.js';
import { HostRoutesService } from './host-routes.service.js';
import type { RouteServer } from './route-server.js';

export const MOUNT = Symbol('MOUNT');

/** The mounted routes of a module. */
@Injectable()
export class MountedRoutesService implements OnModuleInit, BeforeApplicationShutdown {
  readonly authenticator: HostAuthenticator;
  private server: RouteServer | undefined;

  constructor(
    @Inject(MOUNT) private readonly mount: Mount,
    private readonly host: HostRoutesService,
    private readonly contexts: ExternalContextCreator,
    private readonly modules: ModulesContainer,
    private readonly services: ModuleRef,
  ) {
    this.authenticator = new HostAuthenticator(mount);
  }

  /** @throws AppError `CONFIG_INVALID` for a selected route that does not exist */
  async onModuleInit(): Promise<void> {
    if (this.host.platform === undefined) return;
    const { RouteServer } = await loadPackage('fastify', this.mount.name, () => import('./route-server.js'));
    this.server = await RouteServer.open(this.mount, {
      authenticator: this.authenticator,
      contexts: this.contexts,
      module: [...this.modules.values()].find(
        ({ providers }) => providers.get(MountedRoutesService)?.instance === this,
      )!,
      find: (token) => this.services.get(token, { strict: false }),
    });
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.server?.close();
  }

  handle(request: object, response: object): void {
    const exchange = takeOver(request, response);
    const { base, rest } = this.host.split(exchange);
    this.authenticator.note(exchange.raw, { request: exchange.request, base });
    this.server?.handle(exchange, `${this.mount.surface.base}${rest}`);
  }
}
