/** Built-in tools: calculator, time, text and sequential thinking. */
export { BuiltinToolModule, type BuiltinToolSelection } from './builtin-tool.module.js';
