import { type DynamicModule, Module } from '@nestjs/common';
import { AsyncOption, provided } from '../kernel/nest/index.js';
import { LlmModule } from '../llm/index.js';
import { RunModule } from '../run/index.js';
import { OutgoingModule } from '../security/egress/index.js';
import { ToolModule } from '../tool/index.js';
import { DeclaredRemoteAgents, RemoteAgentRegistry } from './remote-agent.registry.js';
import { RemoteCardService } from './remote-card.service.js';
import { RemoteTaskWatcher } from './remote-task-watcher.js';

type Declared = DeclaredRemoteAgents['agents'];

const toDeclared = (agents: Declared): DeclaredRemoteAgents => ({ agents });

/** Agents of other servers as tools, declared in a file or in code. */
@Module({})
export class RemoteAgentModule {
  static forRoot(agents: Declared | AsyncOption<Declared> = []): DynamicModule {
    return {
      module: RemoteAgentModule,
      imports: [LlmModule, ToolModule, RunModule, OutgoingModule],
      providers: [
        provided(DeclaredRemoteAgents, agents instanceof AsyncOption ? agents.map(toDeclared) : toDeclared(agents)),
        RemoteCardService,
        RemoteAgentRegistry,
        RemoteTaskWatcher,
      ],
    };
  }
}
