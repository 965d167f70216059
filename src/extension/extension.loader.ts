import { Injectable, Logger, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { AgentCheckService, Extension } from '../agent/index.js';
import { AppError, messageOf } from '../common/index.js';
import { ExtensionHostFactory, type RevocableHost } from './extension-host.factory.js';
import { orderExtensions, titleOf } from './extension-order.policy.js';

/**
 * Finds every provider that is an `Extension` and begins it: all register, then all boot, each after those that it
 * depends on. It happens before agents are checked for the tools they name, and before runs go on.
 */
@Injectable()
export class ExtensionLoader implements OnModuleInit, OnApplicationShutdown {
  private readonly logger = new Logger(ExtensionLoader.name);
  private readonly begun: Extension[] = [];
  /** Those that Nest does not know, so that it ends none of them. */
  private readonly added: Extension[] = [];

  constructor(
    private readonly discovery: DiscoveryService,
    private readonly hosts: ExtensionHostFactory,
    private readonly check: AgentCheckService,
  ) {}

  async onModuleInit(): Promise<void> {
    const ordered = orderExtensions(this.discovered());
    const hosts = new Map(ordered.map((extension) => [extension, this.hosts.create(extension)]));
    for (const [extension, { host }] of hosts) await begin(extension, 'register', () => extension.register(host));
    for (const extension of ordered) {
      await begin(extension, 'boot', () => extension.boot());
      this.logger.log(`Began the ${titleOf(extension)}`);
    }
    this.begun.push(...ordered);
  }

  /** Those that have begun, in that order. */
  list(): readonly Extension[] {
    return this.begun;
  }

  /**
   * Begins an extension while the application runs: registers and boots it at once. What it depends on must have begun.
   * When it fails, its tools, agents and listeners are taken back, and it is ended.
   * @throws AppError `EXTENSION_INVALID` saying what is wrong with it
   */
  async use(extension: Extension): Promise<void> {
    orderExtensions([extension], this.begun);
    // From now on its name is taken.
    this.begun.push(extension);
    const hosted = this.hosts.create(extension);
    try {
      await this.beginNow(extension, hosted);
    } catch (error) {
      hosted.revoke();
      await this.end(extension);
      this.begun.splice(this.begun.indexOf(extension), 1);
      throw error;
    }
    this.added.push(extension);
  }

  async onApplicationShutdown(signal?: string): Promise<void> {
    for (const extension of this.added.toReversed() as (Extension & Partial<OnApplicationShutdown>)[]) {
      await extension.onApplicationShutdown?.(signal);
    }
  }

  /** What it holds is given back; what goes wrong with that does not hide why it failed. */
  private async end(extension: Extension & Partial<OnApplicationShutdown>): Promise<void> {
    try {
      await extension.onApplicationShutdown?.();
    } catch (error) {
      this.logger.warn(`The ${titleOf(extension)}, which failed, could not be ended: ${messageOf(error)}`);
    }
  }

  private async beginNow(extension: Extension, { host, agents }: RevocableHost): Promise<void> {
    await begin(extension, 'register', () => extension.register(host));
    await begin(extension, 'boot', () => extension.boot());
    await begin(extension, 'registerAgent', () => this.check.check(agents));
  }

  private discovered(): Extension[] {
    const found = new Set<Extension>();
    for (const wrapper of this.discovery.getProviders()) {
      const instance: unknown = wrapper.instance;
      if (!(instance instanceof Extension)) continue;
      if (wrapper.isTransient || !wrapper.isDependencyTreeStatic()) {
        throw new AppError(
          'EXTENSION_INVALID',
          `The extension ${instance.constructor.name} is made anew for each request, but extensions are there once: give it, and what it is injected, the default scope.`,
        );
      }
      found.add(instance);
    }
    return [...found];
  }
}

async function begin(extension: Extension, what: string, action: () => void | Promise<void>): Promise<void> {
  try {
    await action();
  } catch (cause) {
    const message = `The ${titleOf(extension)} failed in ${what}: ${messageOf(cause)}`;
    throw new AppError('EXTENSION_INVALID', message, { cause });
  }
}
