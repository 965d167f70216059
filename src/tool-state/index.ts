/** States of stateful tools: storage, administration, maintenance and backups. */
import { CreateToolState1764000000015 } from './migrations/1764000000015-create-tool-state.migration.js';

export { StateStore } from './backend/state-store.js';
export type {
  ContextWrite,
  StoredContext,
  StoredState as StoredContextState,
  StoredStates,
  StoredVersion,
} from './backend/state-store.js';
export { OWN_STATE_STORES } from './state-backend.registry.js';
export type { StatesEnd } from './backend/state-backend.js';
export { TOOL_STATE_SEALED_TABLES } from './backend/state-place.factory.js';
export { ContextClosings } from './context-closings.js';
export { contextIdOf } from './context-id.factory.js';
export { adaptStateful, type StatefulAdapter } from './stateful-adapter.factory.js';
export { StatefulToolSessions } from './stateful-tool-sessions.js';
export type { StatefulToolSession, StatefulToolSessionOptions } from './stateful-tool-sessions.js';
export { ToolStateAdminService } from './tool-state-admin.service.js';
export type { DamagedContext, ShownContext } from './tool-state-admin.service.js';
export { ToolStateBackups } from './tool-state-backups.js';
export { ToolStateForks } from './tool-state-forks.js';
export type { ToolStateHandle } from './tool-state-handle.js';
export { ToolStateManager } from './tool-state-manager.js';
export type { SetStateOptions, StateUpdate } from './tool-state-manager.js';
export { ToolStateService } from './tool-state.service.js';
export type { ListContextsOptions, OwnedStates, WritableStateType } from './tool-state.service.js';
export { ToolStateModule } from './tool-state.module.js';
export type {
  ContextFilter,
  ContextInfo,
  ContextKey,
  StateEntry,
  StateHistoryEntry,
  StateType,
  StateVersion,
} from './tool-state.types.js';
export { ToolStates } from './tool-states.js';

export const TOOL_STATE_MIGRATIONS = [CreateToolState1764000000015];
