/**
 * All imports of Nest's private files, with `nest-metadata.ts`. They may change with a minor version of Nest: the spec
 * lists the versions that they were checked against. The index of this folder does not export them, since they load
 * Nest's injector.
 */
import type { DynamicModule } from '@nestjs/common';
import {
  ApplicationConfig,
  type ExternalContextCreator,
  type GraphInspector,
  MetadataScanner,
  NestApplicationContext,
  NestContainer,
} from '@nestjs/core';
import { callAppShutdownHook, callBeforeAppShutdownHook, callModuleDestroyHook } from '@nestjs/core/hooks/index.js';
import { STATIC_CONTEXT } from '@nestjs/core/injector/constants.js';
import { Injector } from '@nestjs/core/injector/injector.js';
import { InstanceLoader } from '@nestjs/core/injector/instance-loader.js';
import { InstanceWrapper } from '@nestjs/core/injector/instance-wrapper.js';
import { NoopGraphInspector } from '@nestjs/core/inspector/noop-graph-inspector.js';
import { RoutesResolver } from '@nestjs/core/router/routes-resolver.js';
import { DependenciesScanner } from '@nestjs/core/scanner.js';

// Imported first: the script of the public types follows imports of libraries only.
export {
  callAppShutdownHook,
  callBeforeAppShutdownHook,
  callModuleDestroyHook,
  Injector,
  InstanceWrapper,
  STATIC_CONTEXT,
};

/** Nest's container, with the global enhancers. Nest provides no token to inject it. */
export function containerOf(contexts: ExternalContextCreator): NestContainer {
  return Reflect.get(contexts, 'container') as NestContainer;
}

/**
 * Nest's router for routes on a server of ours: with the global enhancers of `config` instead of those of the application.
 * @param adapter the part of Nest's `HttpServer` that the router uses
 */
export function createRouter(container: NestContainer, adapter: object, config: ApplicationConfig): RoutesResolver {
  const view = Object.create(container, { getHttpAdapterRef: { value: () => adapter } }) as NestContainer;
  const inspector = { insertEntrypointDefinition: () => undefined } as unknown as GraphInspector;
  const router = new RoutesResolver(view, config, new Injector(), inspector);
  // The log of the host lists its own routes.
  for (const part of [router, Reflect.get(router, 'routerExplorer') as object]) Reflect.set(part, 'logger', SILENT);
  return router;
}

/**
 * Starts an application without HTTP, as `NestFactory.createApplicationContext`. It logs no line, not even its failure,
 * and leaves `NestFactory` as it is, whose settings the applications of a process share.
 */
export async function startContext(container: NestContainer, root: DynamicModule): Promise<NestApplicationContext> {
  const scanner = new DependenciesScanner(
    container,
    new MetadataScanner(),
    NoopGraphInspector,
    container.applicationConfig,
  );
  await scanner.scan(root as never);
  await new InstanceLoader(container, new Injector(), NoopGraphInspector, SILENT).createInstancesOfDependencies();
  scanner.applyApplicationProviders();
  const [first = null] = container.getModules().values();
  return new NestApplicationContext(container, {}, first).init();
}

/** A container for `startContext`. */
export function createContainer(): NestContainer {
  return new NestContainer(new ApplicationConfig());
}

const SILENT = { log: () => undefined, warn: () => undefined, error: () => undefined };
