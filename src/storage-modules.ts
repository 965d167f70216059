import type { DynamicModule } from '@nestjs/common';
import { LLM_MIGRATIONS } from './llm/index.js';
import { MCP_ENTITIES, MCP_MIGRATIONS, MCP_SEALED_TABLES } from './mcp/index.js';
import { PersistenceModule, type PersistenceOptions } from './persistence/index.js';
import { FEEDBACK_SEALED_TABLE, RUN_MIGRATIONS, RUN_SEALED_TABLES } from './run/index.js';
import { SCHEDULE_ENTITIES, SCHEDULE_MIGRATIONS, SCHEDULE_SEALED_TABLES } from './schedule/index.js';
import { SECURITY_ENTITIES, SECURITY_MIGRATIONS } from './security/index.js';
import { EncryptionModule, SIGNING_SEALED_TABLES } from './security/encryption/index.js';
import { SESSION_ENTITIES, SESSION_MIGRATIONS, SESSION_SEALED_TABLES } from './session/index.js';
import { APPROVAL_SEALED_TABLES, TOOL_POLICY_ENTITIES, TOOL_POLICY_MIGRATIONS } from './tool-policy/index.js';
import { WEBHOOK_ENTITIES, WEBHOOK_SEALED_TABLES } from './webhook/index.js';
import { TOOL_STATE_MIGRATIONS, TOOL_STATE_SEALED_TABLES } from './tool-state/index.js';

/** The tables of all modules. */
export const STORAGE: PersistenceOptions = {
  entities: [
    ...SESSION_ENTITIES,
    ...SECURITY_ENTITIES,
    ...TOOL_POLICY_ENTITIES,
    ...MCP_ENTITIES,
    ...WEBHOOK_ENTITIES,
    ...SCHEDULE_ENTITIES,
  ],
  migrations: [
    ...RUN_MIGRATIONS,
    ...SESSION_MIGRATIONS,
    ...SECURITY_MIGRATIONS,
    ...LLM_MIGRATIONS,
    ...TOOL_POLICY_MIGRATIONS,
    ...TOOL_STATE_MIGRATIONS,
    ...MCP_MIGRATIONS,
    ...SCHEDULE_MIGRATIONS,
  ],
};

/**
 * The database with the tables of all modules, and the encryption of their texts. The root imports them first and directly:
 * Nest then ends the database last, after the shutdown hooks of the modules that write to it.
 */
export function storageModules(): DynamicModule[] {
  return [
    PersistenceModule.forRoot(STORAGE),
    EncryptionModule.forRoot([
      ...RUN_SEALED_TABLES,
      FEEDBACK_SEALED_TABLE,
      ...SESSION_SEALED_TABLES,
      ...SIGNING_SEALED_TABLES,
      ...APPROVAL_SEALED_TABLES,
      ...TOOL_STATE_SEALED_TABLES,
      ...MCP_SEALED_TABLES,
      ...WEBHOOK_SEALED_TABLES,
      ...SCHEDULE_SEALED_TABLES,
    ]),
  ];
}
