/** What is added to agents as one: extensions are found, put into an order and begun; run events reach Nest's listeners. */
export { DatabaseExtension } from './database/database-extension.js';
export type { DatabaseExtensionOptions } from './database/database-extension.types.js';
export { loadRunEventModule } from './events/run-event-module.loader.js';
export { ExtensionLoader } from './extension.loader.js';
export { ExtensionModule } from './extension.module.js';
