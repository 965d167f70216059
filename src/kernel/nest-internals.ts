/**
 * All imports of Nest's private files. They may change with a minor version of Nest: the spec lists the versions that
 * they were checked against. The index of this folder does not export them, since they load Nest's injector.
 */
import {
  EXCEPTION_FILTERS_METADATA,
  GUARDS_METADATA,
  INTERCEPTORS_METADATA,
  PIPES_METADATA,
  ROUTE_ARGS_METADATA,
} from '@nestjs/common/constants.js';
import type { ExternalContextCreator, NestContainer } from '@nestjs/core';
import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';
import { callAppShutdownHook, callBeforeAppShutdownHook, callModuleDestroyHook } from '@nestjs/core/hooks/index.js';
import { STATIC_CONTEXT } from '@nestjs/core/injector/constants.js';
import { Injector } from '@nestjs/core/injector/injector.js';
import { InstanceWrapper } from '@nestjs/core/injector/instance-wrapper.js';

// Imported first: the script of the public types follows imports of libraries only.
export {
  callAppShutdownHook,
  callBeforeAppShutdownHook,
  callModuleDestroyHook,
  EXCEPTION_FILTERS_METADATA,
  ExecutionContextHost,
  GUARDS_METADATA,
  Injector,
  InstanceWrapper,
  INTERCEPTORS_METADATA,
  PIPES_METADATA,
  ROUTE_ARGS_METADATA,
  STATIC_CONTEXT,
};

/** Nest's container, with the global enhancers. Nest provides no token to inject it. */
export function containerOf(contexts: ExternalContextCreator): NestContainer {
  return Reflect.get(contexts, 'container') as NestContainer;
}
