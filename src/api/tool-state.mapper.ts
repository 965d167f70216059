import type { ContextInfo, ShownContext, StateEntry, StateHistoryEntry, StateVersion } from '../tool/index.js';
import type {
  ShownToolContextDto,
  ToolContextDto,
  ToolContextPageDto,
  ToolStateDto,
  ToolStateHeadDto,
  ToolStateHistoryDto,
  ToolStateVersionsDto,
} from './tool-state.dto.js';

/** @param contexts one more than `limit`, the most that the page may have, when there are further ones */
export function toContextPage(contexts: readonly ContextInfo[], limit: number): ToolContextPageDto {
  const page = contexts.slice(0, limit);
  return {
    contexts: page.map((context) => ({ ...toContext(context), states: context.states.map(toHead) })),
    next: contexts.length > limit ? page.at(-1)!.id : null,
  };
}

export function toShownContext(context: ShownContext): ShownToolContextDto {
  return { ...toContext(context), states: context.states.map(toState) };
}

export function toState(state: StateEntry): ToolStateDto {
  return { ...toHead(state), data: { ...state.data } };
}

/** @param entries one more than `limit`, when there are further ones */
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

/** A plain object, which can be spread. */
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
