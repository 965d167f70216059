/** Serves the web console, and exchanges API keys for sessions of browsers. */
export { ConsoleModule } from './console.module.js';
export { mountConsole } from './console-page.js';
