import { Module } from '@nestjs/common';
import { SealedTableRegistry } from '../../../security/index.js';
import { TOOL_STATE_SEALED_TABLES } from './state-place.factory.js';

/** Says which texts of tools' states are encrypted in the journal's database. */
@Module({})
export class StateStoreModule {
  constructor(tables: SealedTableRegistry) {
    tables.register(TOOL_STATE_SEALED_TABLES);
  }
}
