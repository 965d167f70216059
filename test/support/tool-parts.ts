import { Global, Module } from '@nestjs/common';
import { ConfiguredSecrets, loadConfig } from '../../src/config/index.js';
import { ToolLogFilter, ToolPolicyRegistry } from '../../src/tool/decision/tool-policy.js';
import { NO_STATEFUL_CALLS, StatefulCalls } from '../../src/tool/stateful/stateful-calls.js';
import { ToolExecutor, type ToolResultConfig } from '../../src/tool/tool.executor.js';
import { NoToolSwitch, ToolSwitch } from '../../src/tool/decision/tool-switch.js';

class NoLogFilter extends ToolLogFilter {
  logFilter(): null {
    return null;
  }
}

interface ExecutorParts {
  readonly policies?: ToolPolicyRegistry;
  readonly states?: StatefulCalls;
  readonly config?: ToolResultConfig;
  readonly secrets?: ConfiguredSecrets;
}

/** An executor without an application: no policies, no states, default limits. */
export function toolExecutor(parts: ExecutorParts = {}): ToolExecutor {
  const { policies = new ToolPolicyRegistry(), states = NO_STATEFUL_CALLS } = parts;
  const { config = loadConfig({ env: {} }).config.agent, secrets = new ConfiguredSecrets([]) } = parts;
  return new ToolExecutor(policies, new NoToolSwitch(), states, config, new NoLogFilter(), secrets);
}

/** The ports of the tool module, for applications that consist of it alone. */
@Global()
@Module({
  providers: [
    { provide: ToolSwitch, useClass: NoToolSwitch },
    { provide: StatefulCalls, useValue: NO_STATEFUL_CALLS },
    { provide: ToolLogFilter, useClass: NoLogFilter },
  ],
  exports: [ToolSwitch, StatefulCalls, ToolLogFilter],
})
export class ToolPortsModule {}
