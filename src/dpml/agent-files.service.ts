import { Inject, Injectable, Logger, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { setTimeout as pause } from 'node:timers/promises';
import {
  AgentCheckService,
  type AgentDefinitionInput,
  type AgentFault,
  AgentRegistry,
  AgentSources,
  ENVIRONMENT,
} from '../agent/index.js';
import { AppError, messageOf } from '../common/index.js';
import { AppConfig } from '../config/index.js';
import { buildAgentSet } from './agent-set.builder.js';
import type { AgentSet, AgentWorld } from './agent-set.types.js';
import { AgentFolder } from './files/agent-folder.explorer.js';
import { FolderWatch } from './files/folder-watch.policy.js';
import { type FolderDrafts, isSameReading, readFolderDrafts } from './folder-draft.loader.js';
import { MistakeLog } from './mistake-log.policy.js';
import { PlacedAgents } from './placed-agents.registry.js';

/** Where an application says that its agents' files are: type and token in one. */
export abstract class DeclaredAgentFiles {
  /** A folder; `false` for none, whatever the environment says. */
  abstract readonly dir?: string | false | undefined;
}

/** How it stands with the files. */
export interface AgentFilesState {
  readonly files: number;
  /** Of those, the ones that are not taken; their agents are what they were before. */
  readonly broken: number;
  /** Whether the folder was there and could be read when it was last looked at. */
  readonly isReadable: boolean;
}

const DEFAULT_DIR = 'config/agents';
/** What does not change in this time, in ms, is written to its end. */
const SETTLE_MS = 50;
const MAX_SETTLING = 40;

/** Loads the agents of a folder when the application starts, and keeps up with the folder. */
@Injectable()
export class AgentFiles implements OnModuleInit, OnModuleDestroy {
  private readonly logger = new Logger('AgentFiles');
  private readonly log = new MistakeLog(this.logger);
  private readonly folder: AgentFolder | null;
  private readonly placed: PlacedAgents;
  private readonly watch = new FolderWatch(() => this.look());
  private set: AgentSet = { agents: new Map(), mistakes: new Map() };
  /** What was last taken. */
  private taken: FolderDrafts | null = null;
  private isReadable = true;
  private isOver = false;

  constructor(
    private readonly config: AppConfig,
    @Inject(DeclaredAgentFiles) private readonly declared: DeclaredAgentFiles,
    private readonly sources: AgentSources,
    private readonly agents: AgentRegistry,
    private readonly check: AgentCheckService,
  ) {
    const dir = declared.dir ?? config.agentFiles.dir ?? DEFAULT_DIR;
    this.folder = dir === false ? null : new AgentFolder(dir);
    this.placed = new PlacedAgents(agents);
  }

  onModuleInit(): void {
    const { folder } = this;
    if (folder) this.sources.add(() => this.begin(folder));
  }

  onModuleDestroy(): void {
    this.isOver = true;
    this.watch.stop();
  }

  /** Nothing where there is no folder. */
  get state(): AgentFilesState | null {
    if (!this.taken) return null;
    return { files: this.taken.drafts.size, broken: this.set.mistakes.size, isReadable: this.isReadable };
  }

  /** @throws AppError `AGENT_INVALID` with every mistake of every file, `CONFIG_INVALID` without the folder that is named */
  private async begin(folder: AgentFolder): Promise<void> {
    const found = await this.read(folder);
    if (found) {
      const set = this.build(found);
      if (set.mistakes.size > 0) throw invalid(folder, set);
      this.take(found, set);
    } else if (this.declared.dir ?? this.config.agentFiles.dir) {
      const who = this.declared.dir === undefined ? 'AGENTS_DIR' : 'agentsDir';
      const message = `${who}: there is no folder ${JSON.stringify(folder.path)}: make it, or leave ${who} out.`;
      throw new AppError('CONFIG_INVALID', message);
    }
    if (!this.isOver) this.watch.start();
  }

  private async look(): Promise<void> {
    const { folder } = this;
    if (!folder) return;
    try {
      do await this.reload(folder);
      while (await this.watch.follow(folder.foldersOf(this.includes())));
    } catch (error) {
      if (this.isOver) return;
      this.isReadable = false;
      this.log.tell(folder.path, [messageOf(error)], 'all agents stay as they were');
    }
  }

  private async reload(folder: AgentFolder): Promise<void> {
    const reading = await folder.read(this.includes());
    if (!reading) return this.miss(folder);
    // What names something that is not there may be right without having changed.
    const isMended = this.set.mistakes.size === 0;
    const isSame = this.taken !== null && isSameReading(reading, this.taken.reading);
    if (!(isSame && isMended && this.isReadable)) {
      const found = await this.readSettled(folder);
      if (this.isOver) return;
      if (!found) return this.miss(folder);
      this.take(found, this.build(found));
    }
    this.isReadable = true;
    this.log.mend(folder.path);
  }

  /** Of a folder that was there nobody knows whether its files are deleted, or the disk that it is on is away. */
  private miss(folder: AgentFolder): void {
    if (this.taken) throw new AppError('AGENT_INVALID', `${folder.path} is not there any more`);
  }

  /** What stands there when nobody writes: several files may belong together. */
  private async readSettled(folder: AgentFolder): Promise<FolderDrafts | null> {
    let found = await this.read(folder);
    for (let times = 0; found && !this.isOver && times < MAX_SETTLING; times++) {
      await pause(SETTLE_MS, undefined, { ref: false });
      const next = await this.read(folder);
      if (next && isSameReading(next.reading, found.reading)) return next;
      found = next;
    }
    return found;
  }

  private read(folder: AgentFolder): Promise<FolderDrafts | null> {
    return readFolderDrafts(folder, this.config.agentFiles.variables, this.includes());
  }

  private includes(): Iterable<string> {
    return this.taken?.reading.others.keys() ?? [];
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
      const stays = agent ? `its agent "${agent.name}" stays as it was` : 'it has no agent';
      const lines = set.mistakes.get(file);
      if (lines) this.log.tell(file, lines, stays);
      else this.log.mend(file);
    }
    this.log.forget((file) => found.drafts.has(file) || file === this.folder?.path);
    this.set = set;
    this.taken = found;
  }
}

function invalid({ path }: AgentFolder, { mistakes }: AgentSet): AppError {
  const lines = [...mistakes.values()].flat();
  const count = lines.length === 1 ? 'a mistake' : `${lines.length} mistakes`;
  return new AppError('AGENT_INVALID', [`The agents' files in ${path} have ${count}:`, ...lines].join('\n  '), {
    details: { mistakes: lines },
  });
}
