import { describe, expect, it } from '@jest/globals';
import { ApplicationConfig, ExternalContextCreator, NestContainer } from '@nestjs/core';
import { createRequire } from 'node:module';
import * as internals from './nest-internals.js';

/** Add a minor version after a check that these files and the used methods are the same in it. */
const CHECKED = ['12.5'];

const require = createRequire(import.meta.url);

describe("Nest's private files", () => {
  it.each(['@nestjs/common', '@nestjs/core'])('were checked against the installed version of %s', (name) => {
    const { version } = require(`${name}/package.json`) as { version: string };
    expect(CHECKED).toContain(version.split('.').slice(0, 2).join('.'));
  });

  it('export the metadata keys under which Nest stores enhancers and parameters', () => {
    expect(internals).toMatchObject({
      EXCEPTION_FILTERS_METADATA: '__exceptionFilters__',
      GUARDS_METADATA: '__guards__',
      INTERCEPTORS_METADATA: '__interceptors__',
      PIPES_METADATA: '__pipes__',
      ROUTE_ARGS_METADATA: '__routeArguments__',
    });
  });

  it('export the classes with the methods that tool calls use, and the shutdown hooks', () => {
    expect(internals.STATIC_CONTEXT).toMatchObject({ id: 1 });
    expect(Reflect.get(internals.Injector.prototype, 'loadPerContext')).toHaveLength(5);
    expect(Reflect.get(internals.InstanceWrapper.prototype, 'isDependencyTreeStatic')).toBeInstanceOf(Function);
    expect(Reflect.get(internals.InstanceWrapper.prototype, 'isDependencyTreeDurable')).toBeInstanceOf(Function);
    expect(Reflect.get(internals.InstanceWrapper.prototype, 'getEnhancersMetadata')).toBeInstanceOf(Function);
    expect(Reflect.get(internals.ExecutionContextHost.prototype, 'getArgByIndex')).toBeInstanceOf(Function);
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
});
