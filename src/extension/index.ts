/** Extensions: discovery, dependency order and start; run events for Nest's event listeners. */
export { DatabaseExtension } from './database/database-extension.js';
export type { DatabaseExtensionOptions } from './database/database-extension.types.js';
export { loadRunEventModule } from './events/run-event-module.loader.js';
export { ExtensionLoader } from './extension.loader.js';
export { ExtensionModule } from './extension.module.js';
