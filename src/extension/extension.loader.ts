import { Injectable, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { Extension } from '../agent/index.js';
import { AgentCheckService } from '../agent/definition/index.js';
import { AppError, Log, messageOf } from '../errors/index.js';
import { ExtensionHostFactory, type RevocableHost } from './extension-host.factory.js';
import { orderExtensions, titleOf } from './extension-order.policy.js';

/**
 * Discovers every provider that is an `Extension` and starts it: all register, then all boot, each after its
 * dependencies. This happens before the tools that agents name are checked, and before runs resume.
 */
@Injectable()
export class ExtensionLoader implements OnModuleInit, OnApplicationShutdown {
  private readonly logger = new Log(ExtensionLoader.name);
  private readonly started: Extension[] = [];
  /** Extensions that Nest does not manage; this class shuts them down. */
  private readonly added: Extension[] = [];

  constructor(
    private readonly discovery: DiscoveryService,
    private readonly hosts: ExtensionHostFactory,
    private readonly check: AgentCheckService,
  ) {}

  async onModuleInit(): Promise<void> {
    const ordered = orderExtensions(this.discovered());
    const hosts = new Map(ordered.map((extension) => [extension, this.hosts.create(extension)]));
    for (const [extension, { host }] of hosts) await runPhase(extension, 'register', () => extension.register(host));
    for (const extension of ordered) {
      await runPhase(extension, 'boot', () => extension.boot());
      this.logger.log(`Started the ${titleOf(extension)}`);
    }
    this.started.push(...ordered);
  }

  /** Started extensions, in the order of their start. */
  list(): readonly Extension[] {
    return this.started;
  }

  /**
   * Starts an extension while the application runs: registers and boots it at once. Its dependencies must have started.
   * If it fails, its tools, agents and listeners are removed, and it is shut down.
   * @throws AppError `EXTENSION_INVALID` with the reason
   */
  async use(extension: Extension): Promise<void> {
    orderExtensions([extension], this.started);
    // Reserves its name.
    this.started.push(extension);
    const hosted = this.hosts.create(extension);
    try {
      await this.start(extension, hosted);
    } catch (error) {
      hosted.revoke();
      await this.end(extension);
      this.started.splice(this.started.indexOf(extension), 1);
      throw error;
    }
    this.added.push(extension);
  }

  async onApplicationShutdown(signal?: string): Promise<void> {
    for (const extension of this.added.toReversed() as (Extension & Partial<OnApplicationShutdown>)[]) {
      await extension.onApplicationShutdown?.(signal);
    }
  }

  /** Releases its resources. An error of the shutdown does not hide the error of the start. */
  private async end(extension: Extension & Partial<OnApplicationShutdown>): Promise<void> {
    try {
      await extension.onApplicationShutdown?.();
    } catch (error) {
      this.logger.warn(`Shutdown of the ${titleOf(extension)} after its failed start failed: ${messageOf(error)}`);
    }
  }

  private async start(extension: Extension, { host, agents }: RevocableHost): Promise<void> {
    await runPhase(extension, 'register', () => extension.register(host));
    await runPhase(extension, 'boot', () => extension.boot());
    await runPhase(extension, 'registerAgent', () => this.check.check(agents));
  }

  private discovered(): Extension[] {
    const found = new Set<Extension>();
    for (const wrapper of this.discovery.getProviders()) {
      const instance: unknown = wrapper.instance;
      if (!(instance instanceof Extension)) continue;
      if (wrapper.isTransient || !wrapper.isDependencyTreeStatic()) {
        throw new AppError(
          'EXTENSION_INVALID',
          `The extension ${instance.constructor.name} is transient or request-scoped, but extensions must be singletons: give it and its dependencies the default scope.`,
        );
      }
      found.add(instance);
    }
    return [...found];
  }
}

async function runPhase(extension: Extension, what: string, action: () => void | Promise<void>): Promise<void> {
  try {
    await action();
  } catch (cause) {
    const message = `The ${titleOf(extension)} failed in ${what}: ${messageOf(cause)}`;
    throw new AppError('EXTENSION_INVALID', message, { cause });
  }
}
