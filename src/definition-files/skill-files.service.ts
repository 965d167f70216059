import {
  Inject,
  Injectable,
  type OnApplicationBootstrap,
  type OnModuleDestroy,
  type OnModuleInit,
} from '@nestjs/common';
import { type Skill, SkillRegistry } from '../agent/index.js';
import { definitionFilesConfig, type DefinitionFilesConfig } from '../config/namespaces/index.js';
import { Log } from '../errors/index.js';
import { noFolder } from './agent-files.service.js';
import { DefinitionFolder } from './files/definition-folder.explorer.js';
import type { FilesState } from './files/folder.types.js';
import { FolderFollower, MistakeLog } from './folder-follower.policy.js';
import { filesOf, type FolderSkills, nameOf, readSkillFolder } from './skill/skill-folder.loader.js';

/** Folder of the skills, declared by the application: type and token in one. */
export abstract class DeclaredSkillFiles {
  /** A folder; `false` for none, regardless of the environment. */
  abstract readonly dir?: string | false | undefined;
}

const DEFAULT_DIR = 'config/skills';
/** Maximum number of reported mistakes. */
const MAX_MISTAKES = 100;

/** Loads the skills of a folder at application start and follows changes of the folder. */
@Injectable()
export class SkillFiles implements OnModuleInit, OnApplicationBootstrap, OnModuleDestroy {
  private readonly logger = new Log('SkillFiles');
  private readonly log = new MistakeLog(this.logger);
  private readonly follower: FolderFollower<FolderSkills> | null;
  /** By file name; an invalid file retains its former skill, if any. */
  private skills: ReadonlyMap<string, Skill> = new Map();
  private mistakes: ReadonlyMap<string, readonly string[]> = new Map();
  /** Content at the start; null without a folder. */
  private opened: FolderSkills | null = null;
  /** Number of skills; null before the first read, and without a folder. */
  private files: number | null = null;

  constructor(
    @Inject(definitionFilesConfig.KEY) private readonly config: DefinitionFilesConfig,
    @Inject(DeclaredSkillFiles) private readonly declared: DeclaredSkillFiles,
    private readonly registry: SkillRegistry,
  ) {
    const dir = declared.dir ?? config.skillsDir ?? (config.hasDefaults && DEFAULT_DIR);
    this.follower = dir === false ? null : this.follow(new DefinitionFolder(dir, 'skills'));
  }

  /** An invalid skill does not fail the start. @throws AppError `CONFIG_INVALID` if a configured folder does not exist */
  async onModuleInit(): Promise<void> {
    const { follower } = this;
    if (!follower) return;
    this.opened = await follower.read();
    if (this.opened) {
      this.take(this.opened);
    } else if (this.declared.dir ?? this.config.skillsDir) {
      const { skillsDir: variable } = this.config.variableNames;
      throw noFolder(follower.folder, this.declared.dir === undefined ? variable : 'skillsDir');
    }
  }

  onApplicationBootstrap(): void {
    this.follower?.start(this.opened);
  }

  onModuleDestroy(): void {
    this.follower?.stop();
  }

  /** Null without a folder. */
  get state(): (FilesState & { readonly mistakes: readonly string[] }) | null {
    if (this.files === null || !this.follower) return null;
    const mistakes = [...this.mistakes.values()].flat().slice(0, MAX_MISTAKES);
    return { files: this.files, broken: this.mistakes.size, isReadable: this.follower.isReadable, mistakes };
  }

  private follow(folder: DefinitionFolder): FolderFollower<FolderSkills> {
    const use = {
      read: () => readSkillFolder(folder),
      take: (found: FolderSkills) => this.take(found),
      // An invalid skill becomes valid only by a change of its file.
      hasMistakes: () => false,
    };
    return new FolderFollower(folder, use, this.log, 'all skills are unchanged');
  }

  private take({ readings }: FolderSkills): void {
    const skills = new Map<string, Skill>();
    const mistakes = new Map<string, readonly string[]>();
    for (const [file, reading] of readings) {
      const former = this.skills.get(file);
      if ('mistakes' in reading) {
        mistakes.set(file, reading.mistakes);
        if (former) skills.set(file, former);
        this.log.logNew(file, reading.mistakes, former ? 'its skill is unchanged' : 'it defines no skill');
        continue;
      }
      this.log.mend(file);
      skills.set(file, { ...reading.skill, ...filesOf(file) });
      if (!former) this.logger.log(`The skill "${reading.skill.name}" is added`);
    }
    this.logRemoved(skills);
    this.log.forget((file) => readings.has(file) || file === this.follower?.folder.path);
    [this.skills, this.mistakes, this.files] = [skills, mistakes, readings.size];
    this.registry.replaceAll(skills.values(), [...mistakes.keys()].map(nameOf));
  }

  private logRemoved(skills: ReadonlyMap<string, Skill>): void {
    for (const [file, { name }] of this.skills) {
      if (!skills.has(file)) this.logger.log(`The skill "${name}" is removed`);
    }
  }
}
