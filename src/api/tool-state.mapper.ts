import type {
  ContextInfo,
  DamagedContext,
  ShownContext,
  StateEntry,
  StateHistoryEntry,
  StateVersion,
} from '../tool-state/index.js';
import { toCursor } from './list-cursor.js';
import type {
  DamagedToolContextDto,
  ListedToolContextDto,
  ShownToolContextDto,
  ToolContextDto,
  ToolContextPageDto,
  ToolStateDto,
  ToolStateHeadDto,
  ToolStateHistoryDto,
  ToolStateVersionsDto,
} from './tool-state.dto.js';

/** @param contexts up to `limit + 1` entries: one more than `limit`, the page size, if there is a next page */
export function toContextPage(contexts: readonly (ContextInfo | DamagedContext)[], limit: number): ToolContextPageDto {
  const page = contexts.slice(0, limit);
  return {
    contexts: page.flatMap((context) => ('error' in context ? [] : [toListed(context)])),
    damaged: page.flatMap((context) => ('error' in context ? [toDamaged(context)] : [])),
    next: toCursor('states', contexts.length > limit ? page.at(-1)!.id : null),
  };
}

export function toShownContext(context: ShownContext): ShownToolContextDto {
  return { ...toContext(context), states: context.states.map(toState) };
}

export function toState(state: StateEntry): ToolStateDto {
  return { ...toHead(state), data: { ...state.data } };
}

/** @param entries up to `limit + 1` entries: one more than `limit`, the page size, if there is a next page */
export function toHistory(entries: readonly StateHistoryEntry[], limit: number): ToolStateHistoryDto {
  const page = entries.slice(0, limit);
  return {
    entries: page.map((entry) => ({ ...entry, detail: { ...entry.detail } })),
    next: entries.length > limit ? page.at(-1)!.n : null,
  };
}

export function toVersions(versions: readonly StateVersion[]): ToolStateVersionsDto {
  return { versions: versions.map((version) => ({ ...version, data: { ...version.data } })) };
}

function toListed(context: ContextInfo): ListedToolContextDto {
  return { ...toContext(context), states: context.states.map(toHead) };
}

function toDamaged({ id, manager, error }: DamagedContext): DamagedToolContextDto {
  return { context_id: id, manager, code: error.code, detail: error.message };
}

/** A plain object type, which can be spread. */
function toContext(context: Omit<ContextInfo, 'states'>): Pick<ToolContextDto, keyof ToolContextDto> {
  return {
    context_id: context.id,
    tool: context.tool,
    session_id: context.session,
    manager: context.manager,
    created_at: context.createdAt,
    used_at: context.usedAt,
    expires_at: context.expiresAt,
  };
}

function toHead(state: ContextInfo['states'][number]): Pick<ToolStateHeadDto, keyof ToolStateHeadDto> {
  return {
    state_id: state.id,
    state_type: state.type,
    version: state.version,
    created_at: state.createdAt,
    updated_at: state.updatedAt,
    expires_at: state.expiresAt,
  };
}
