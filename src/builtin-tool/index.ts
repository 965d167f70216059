/** Built-in tools: calculator, time, text and sequential thinking. */
export { BuiltinToolModule } from './builtin-tool.module.js';
