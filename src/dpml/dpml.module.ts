import { type DynamicModule, Global, Module } from '@nestjs/common';
import { type Later, provided } from '../common/index.js';
import { AgentFiles, DeclaredAgentFiles } from './agent-files.service.js';

/** The agents that stand in files. */
@Global()
@Module({})
export class DpmlModule {
  /** @param declared the folder, where it is not the one that the environment says */
  static forRoot(declared: DeclaredAgentFiles | Later<DeclaredAgentFiles>): DynamicModule {
    return {
      module: DpmlModule,
      providers: [provided(DeclaredAgentFiles, declared), AgentFiles],
      exports: [AgentFiles],
    };
  }
}
