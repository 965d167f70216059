import { Global, Module, type Type } from '@nestjs/common';
import { AgentService } from './agent/index.js';
import { RunHistoryService } from './agent/history/index.js';
import { type ServiceName, serviceToken } from './kernel/nest/index.js';
import { RunModule, RunService } from './run/index.js';
import { SessionModule, SessionService } from './session/index.js';
import { ToolStateService } from './tool-state/index.js';
import { WorkflowService } from './workflow/index.js';

const SERVICES: Readonly<Record<ServiceName, Type>> = {
  AgentService,
  RunService,
  RunHistoryService,
  SessionService,
  ToolStateService,
  WorkflowService,
};
const PROVIDERS = Object.entries(SERVICES).map(([name, service]) => ({
  provide: serviceToken(name as ServiceName),
  useExisting: service,
}));

/** Provides the services under the tokens of `jackdaw/tool`. */
@Global()
@Module({ imports: [RunModule, SessionModule], providers: PROVIDERS, exports: PROVIDERS })
export class ServiceTokenModule {}
