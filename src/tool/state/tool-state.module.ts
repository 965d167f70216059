import { Module } from '@nestjs/common';
import { SealedTableRegistry } from '../../security/index.js';
import { ToolModule } from '../tool.module.js';
import { TOOL_STATE_SEALED_TABLES } from './stores/state-place.factory.js';

/** What the states of tools need where there is a database. */
@Module({ imports: [ToolModule] })
export class ToolStateModule {
  constructor(tables: SealedTableRegistry) {
    tables.register(TOOL_STATE_SEALED_TABLES);
  }
}
