import { Inject, Injectable, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import {
  AgentCheckService,
  type AgentDefinitionInput,
  type AgentFault,
  AgentRegistry,
  AgentSources,
  ENVIRONMENT,
} from '../agent/definition/index.js';
import { AppError, Log, messageOf } from '../errors/index.js';
import { definitionFilesConfig, type DefinitionFilesConfig } from '../config/namespaces/index.js';
import { buildAgentSet } from './agent-set.builder.js';
import { type AgentSet, type AgentWorld, PlacedAgents } from './placed-agents.registry.js';
import { DefinitionFolder } from './files/definition-folder.explorer.js';
import type { FilesState } from './files/folder.types.js';
import { type FolderDrafts, readFolderDrafts } from './folder-draft.loader.js';
import { FolderFollower, MistakeLog } from './folder-follower.policy.js';

/** Folder of the agents' files, declared by the application: type and token in one. */
export abstract class DeclaredAgentFiles {
  /** A folder; `false` for none, regardless of the environment. */
  abstract readonly dir?: string | false | undefined;
}

const DEFAULT_DIR = 'config/agents';

/** Loads the agents of a folder at application start and follows changes of the folder. */
@Injectable()
export class AgentFiles implements OnModuleInit, OnModuleDestroy {
  private readonly logger = new Log('AgentFiles');
  private readonly log = new MistakeLog(this.logger);
  private readonly follower: FolderFollower<FolderDrafts> | null;
  private readonly placed: PlacedAgents;
  private set: AgentSet = { agents: new Map(), mistakes: new Map() };
  /** Number of files; null before the first read, and without a folder. */
  private files: number | null = null;

  constructor(
    @Inject(definitionFilesConfig.KEY) private readonly config: DefinitionFilesConfig,
    @Inject(DeclaredAgentFiles) private readonly declared: DeclaredAgentFiles,
    private readonly sources: AgentSources,
    private readonly agents: AgentRegistry,
    private readonly check: AgentCheckService,
  ) {
    const dir = declared.dir ?? config.agentsDir ?? (config.hasDefaults && DEFAULT_DIR);
    this.follower = dir === false ? null : this.follow(new DefinitionFolder(dir));
    this.placed = new PlacedAgents(agents);
  }

  onModuleInit(): void {
    const { follower } = this;
    if (follower) this.sources.add(() => this.begin(follower));
  }

  onModuleDestroy(): void {
    this.follower?.stop();
  }

  /** Null without a folder. */
  get state(): FilesState | null {
    if (this.files === null || !this.follower) return null;
    return { files: this.files, broken: this.set.mistakes.size, isReadable: this.follower.isReadable };
  }

  private follow(folder: DefinitionFolder): FolderFollower<FolderDrafts> {
    const use = {
      read: (includes: Iterable<string>) => readFolderDrafts(folder, this.config.variables, includes),
      take: (found: FolderDrafts) => this.take(found, this.build(found)),
      hasMistakes: () => this.set.mistakes.size > 0,
    };
    return new FolderFollower(folder, use, this.log, 'all agents are unchanged');
  }

  /**
   * @throws AppError `AGENT_INVALID` with all mistakes of all files, `CONFIG_INVALID` if a configured folder does not
   * exist
   */
  private async begin(follower: FolderFollower<FolderDrafts>): Promise<void> {
    const found = await follower.read();
    if (found) {
      const set = this.build(found);
      if (set.mistakes.size > 0) throw invalid(follower.folder, set);
      this.take(found, set);
    } else if (this.declared.dir ?? this.config.agentsDir) {
      const { agentsDir: variable } = this.config.variableNames;
      throw noFolder(follower.folder, this.declared.dir === undefined ? variable : 'agentsDir');
    }
    follower.start(found);
  }

  private build({ drafts }: FolderDrafts): AgentSet {
    return buildAgentSet(drafts, this.set.agents, this.world());
  }

  private world(): AgentWorld {
    return {
      names: this.placed.namesInCode(),
      declared: (name) => this.placed.declaredInCode(name),
      mayReplace: ({ source }) => source === ENVIRONMENT,
      faults: (input, names) => this.faults(input, names),
    };
  }

  private faults(input: AgentDefinitionInput, names: readonly string[]): readonly AgentFault[] {
    try {
      return this.check.faults(this.agents.define(input).definition, names);
    } catch (error) {
      return [{ path: ['model'], message: messageOf(error) }];
    }
  }

  private take(found: FolderDrafts, set: AgentSet): void {
    for (const { kind, name } of this.placed.place(set.agents)) this.logger.log(`The agent "${name}" is ${kind}`);
    for (const file of found.drafts.keys()) {
      const agent = set.agents.get(file);
      const stays = agent ? `its agent "${agent.name}" is unchanged` : 'it defines no agent';
      const lines = set.mistakes.get(file);
      if (lines) this.log.logNew(file, lines, stays);
      else this.log.mend(file);
    }
    this.log.forget((file) => found.drafts.has(file) || file === this.follower?.folder.path);
    this.set = set;
    this.files = found.drafts.size;
  }
}

/** @param who the setting that names the folder */
export function noFolder({ path }: DefinitionFolder, who: string): AppError {
  const message = `${who}: there is no folder ${JSON.stringify(path)}: make it, or leave ${who} out.`;
  return new AppError('CONFIG_INVALID', message);
}

function invalid({ path }: DefinitionFolder, { mistakes }: AgentSet): AppError {
  const lines = [...mistakes.values()].flat();
  const count = lines.length === 1 ? 'a mistake' : `${lines.length} mistakes`;
  return new AppError('AGENT_INVALID', [`The agents' files in ${path} have ${count}:`, ...lines].join('\n  '), {
    details: { mistakes: lines },
  });
}
