/** The command line `jackdaw`: a table of commands, which call a server by the client of the REST API. */
export { runCli } from './run-cli.js';
