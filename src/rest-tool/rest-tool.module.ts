import { Module, type DynamicModule } from '@nestjs/common';
import { AsyncOption, provided } from '../kernel/nest/index.js';
import { OutgoingModule } from '../security/egress/index.js';
import { ToolStateModule } from '../tool-state/index.js';
import { ToolModule } from '../tool/index.js';
import { ContextConnections } from './connection/context-connections.registry.js';
import { DeclaredRestTools, RestToolLoader } from './rest-tool.loader.js';
import { RestToolRegistry } from './rest-tool.registry.js';

type Declared = DeclaredRestTools['tools'];

const toDeclared = (tools: Declared): DeclaredRestTools => ({ tools });

/** REST endpoints as tools, declared in files or in code. */
@Module({})
export class RestToolModule {
  static forRoot(tools: Declared | AsyncOption<Declared> = []): DynamicModule {
    return {
      module: RestToolModule,
      imports: [ToolModule, ToolStateModule, OutgoingModule],
      providers: [
        provided(DeclaredRestTools, tools instanceof AsyncOption ? tools.map(toDeclared) : toDeclared(tools)),
        ContextConnections,
        RestToolRegistry,
        RestToolLoader,
      ],
      exports: [RestToolRegistry],
    };
  }
}
