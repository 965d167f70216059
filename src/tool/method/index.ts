/** Methods as tools: decorators, their explorer, and enhancers of Nest. */
export { type ToolOptions, markMethod, Tool } from './tool.decorator.js';
export { ToolContext, ToolSignal, ToolState, ToolExecutionContext } from './tool-parameter.decorator.js';
export { ToolEnhancerModule } from './tool-enhancer.module.js';
export type { ToolEnhancerKind, ToolEnhancerOptions } from './tool-enhancer.module.js';
export { ToolExplorer } from './tool.explorer.js';
