/**
 * The entry `jackdaw/tool`, for providers with tools. It loads little more than `@nestjs/common`, and exports the same
 * objects as `jackdaw`, so that specs of such providers start as fast as without Jackdaw.
 */
export { AppError, type ErrorCode } from './errors/index.js';
export { serviceToken, type ServiceName } from './kernel/nest/service-token.js';
export { withImages, type IllustratedResult } from './tool/result/illustrated-result.factory.js';
export { Tool, type ToolOptions } from './tool/method/tool.decorator.js';
export { ToolExecutionContext, ToolContext, ToolSignal, ToolState } from './tool/method/tool-parameter.decorator.js';
export { Parameter } from './tool/input/parameter.builder.js';
export { suspend, type Suspension } from './tool/suspension.factory.js';
export type { SuspendOptions, ToolEffect } from './tool/tool.types.js';
