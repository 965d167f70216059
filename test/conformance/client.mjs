// The client of the conformance suite: Jackdaw's own MCP connection, with tools called as the agent loop calls them.
// The suite starts one process per scenario, with the scenario's name in the environment and the server's address as
// the last argument.
import { enableCompileCache } from 'node:module';
import { takeTurn } from './turn.mjs';

enableCompileCache();

const { MCP_CONFORMANCE_SCENARIO: scenario = '', MCP_CONFORMANCE_CONTEXT: context = '{}' } = process.env;

try {
  await takeTurn();
  const { runScenario } = await import('./client-scenarios.mjs');
  await runScenario(scenario, process.argv.at(-1), JSON.parse(context));
} catch (error) {
  process.stderr.write(`${error?.stack ?? error}\n`);
  process.exitCode = 1;
}
