/**
 * All imports of Nest's private files. They may change with a minor version of Nest: the spec lists the versions that
 * they were checked against. The index of this folder does not export them, since they load Nest's injector.
 */
export {
  ENTRY_PROVIDER_WATERMARK,
  EXCEPTION_FILTERS_METADATA,
  GUARDS_METADATA,
  INTERCEPTORS_METADATA,
  PIPES_METADATA,
  ROUTE_ARGS_METADATA,
} from '@nestjs/common/constants.js';
export { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';
export { callAppShutdownHook, callBeforeAppShutdownHook, callModuleDestroyHook } from '@nestjs/core/hooks/index.js';
export { STATIC_CONTEXT } from '@nestjs/core/injector/constants.js';
export { Injector } from '@nestjs/core/injector/injector.js';
export { InstanceWrapper } from '@nestjs/core/injector/instance-wrapper.js';
