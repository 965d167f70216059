import { Module, type DynamicModule } from '@nestjs/common';
import { OutgoingModule } from '../../security/index.js';
import { ToolModule } from '../tool.module.js';
import { ContextConnections } from './connection/context-connections.registry.js';
import { DeclaredRestTools, RestToolLoader } from './rest-tool.loader.js';
import { RestToolRegistry } from './rest-tool.registry.js';

/** Endpoints as tools, declared in files and in code. */
@Module({})
export class RestToolModule {
  static forRoot(tools: DeclaredRestTools['tools'] = []): DynamicModule {
    return {
      module: RestToolModule,
      imports: [ToolModule, OutgoingModule],
      providers: [
        { provide: DeclaredRestTools, useValue: { tools } },
        ContextConnections,
        RestToolRegistry,
        RestToolLoader,
      ],
      exports: [RestToolRegistry],
    };
  }
}
