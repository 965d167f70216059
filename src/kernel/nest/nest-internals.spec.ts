import { describe, expect, it } from 'vitest';
import { ConsoleLogger, Controller, Get, Logger } from '@nestjs/common';
import { ApplicationConfig, ExternalContextCreator, NestContainer } from '@nestjs/core';
import { createRequire } from 'node:module';
import * as internals from './nest-internals.js';
import * as metadata from './nest-metadata.js';

/** Add a minor version after a check that these files and the used methods are the same in it. */
const CHECKED = ['12.5'];

const require = createRequire(import.meta.url);

describe("Nest's private files", () => {
  it.each(['@nestjs/common', '@nestjs/core'])('were checked against the installed version of %s', (name) => {
    const { version } = require(`${name}/package.json`) as { version: string };
    expect(CHECKED).toContain(version.split('.').slice(0, 2).join('.'));
  });

  it('export the metadata keys under which Nest stores enhancers and parameters', () => {
    expect(metadata).toMatchObject({
      EXCEPTION_FILTERS_METADATA: '__exceptionFilters__',
      GUARDS_METADATA: '__guards__',
      INTERCEPTORS_METADATA: '__interceptors__',
      METHOD_METADATA: 'method',
      PARAMTYPES_METADATA: 'design:paramtypes',
      PATH_METADATA: 'path',
      PIPES_METADATA: '__pipes__',
      ROUTE_ARGS_METADATA: '__routeArguments__',
      SELF_DECLARED_DEPS_METADATA: 'self:paramtypes',
    });
  });

  it('export the classes with the methods that tool calls use, and the shutdown hooks', () => {
    expect(internals.STATIC_CONTEXT).toMatchObject({ id: 1 });
    expect(Reflect.get(internals.Injector.prototype, 'loadPerContext')).toHaveLength(5);
    expect(Reflect.get(internals.InstanceWrapper.prototype, 'isDependencyTreeStatic')).toBeInstanceOf(Function);
    expect(Reflect.get(internals.InstanceWrapper.prototype, 'isDependencyTreeDurable')).toBeInstanceOf(Function);
    expect(Reflect.get(internals.InstanceWrapper.prototype, 'getEnhancersMetadata')).toBeInstanceOf(Function);
    expect(Reflect.get(metadata.ExecutionContextHost.prototype, 'getArgByIndex')).toBeInstanceOf(Function);
    expect(internals.callModuleDestroyHook).toHaveLength(1);
    expect(internals.callBeforeAppShutdownHook).toHaveLength(2);
    expect(internals.callAppShutdownHook).toHaveLength(2);
  });

  it('find the container, with the configuration of the application, in the pipeline', () => {
    const container = new NestContainer(new ApplicationConfig());
    const found = internals.containerOf(ExternalContextCreator.fromContainer(container));
    expect(found).toBe(container);
    expect(found.applicationConfig).toBeInstanceOf(ApplicationConfig);
  });

  it('create a router that adds routes to another adapter, without a line in the log', () => {
    @Controller('orders')
    class OrderController {
      @Get('open')
      open(): void {
        return undefined;
      }
    }
    const added: string[] = [];
    const lines: unknown[] = [];
    Logger.overrideLogger({ log: (line) => lines.push(line), warn: () => undefined, error: () => undefined });
    const container = new NestContainer(new ApplicationConfig());
    const adapter = { get: (path: string) => added.push(path) };
    const router = internals.createRouter(container, adapter, new ApplicationConfig());
    const wrapper = new internals.InstanceWrapper({
      name: 'OrderController',
      metatype: OrderController,
      instance: new OrderController(),
      isResolved: true,
    });
    router.registerRouters(new Map([[OrderController, wrapper]]), '', '/api', '', adapter as never);
    Logger.overrideLogger(new ConsoleLogger());
    expect([added, lines]).toEqual([['/api/orders/open'], []]);
  });
});
