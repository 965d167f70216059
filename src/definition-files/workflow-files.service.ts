import {
  Inject,
  Injectable,
  type OnApplicationBootstrap,
  type OnModuleDestroy,
  type OnModuleInit,
} from '@nestjs/common';
import { AppError, Log, messageOf } from '../errors/index.js';
import { canonicalJson } from '../kernel/json/index.js';
import { definitionFilesConfig, type DefinitionFilesConfig } from '../config/namespaces/index.js';
import { WorkflowCheckService, WorkflowRegistry } from '../workflow/index.js';
import { noFolder } from './agent-files.service.js';
import { DefinitionFolder } from './files/definition-folder.explorer.js';
import type { FilesState } from './files/folder.types.js';
import { FolderFollower, MistakeLog } from './folder-follower.policy.js';
import {
  buildWorkflowSet,
  type FileWorkflow,
  type FolderWorkflows,
  type WorkflowSet,
} from './workflow/workflow-set.builder.js';
import { readWorkflowText } from './workflow/workflow-text.parser.js';

/** Folder of the workflows' files, declared by the application: type and token in one. */
export abstract class DeclaredWorkflowFiles {
  /** A folder; `false` for none, regardless of the environment. */
  abstract readonly dir?: string | false | undefined;
}

const DEFAULT_DIR = 'config/workflows';

/** Loads the workflows of a folder at application start and follows changes of the folder. */
@Injectable()
export class WorkflowFiles implements OnModuleInit, OnApplicationBootstrap, OnModuleDestroy {
  private readonly logger = new Log('WorkflowFiles');
  private readonly log = new MistakeLog(this.logger);
  private readonly follower: FolderFollower<FolderWorkflows> | null;
  private set: WorkflowSet = { workflows: new Map(), mistakes: new Map() };
  /** Content at the start; null without a folder. */
  private opened: FolderWorkflows | null = null;
  /** Number of files. */
  private files: number | null = null;
  /** Whether the application has started; tools and agents exist only then. */
  private isUp = false;

  constructor(
    @Inject(definitionFilesConfig.KEY) private readonly config: DefinitionFilesConfig,
    @Inject(DeclaredWorkflowFiles) private readonly declared: DeclaredWorkflowFiles,
    private readonly workflows: WorkflowRegistry,
    private readonly check: WorkflowCheckService,
  ) {
    const dir = declared.dir ?? config.workflowsDir ?? (config.hasDefaults && DEFAULT_DIR);
    this.follower = dir === false ? null : this.follow(new DefinitionFolder(dir, 'workflows'));
  }

  /**
   * @throws AppError `WORKFLOW_INVALID` with all mistakes of all files, `CONFIG_INVALID` if a configured folder does
   * not exist
   */
  async onModuleInit(): Promise<void> {
    const { follower } = this;
    if (!follower) return;
    this.opened = await follower.read();
    if (this.opened) {
      const set = this.build(this.opened);
      if (set.mistakes.size > 0) throw invalid(follower.folder, set);
      this.take(this.opened, set);
    } else if (this.declared.dir ?? this.config.workflowsDir) {
      const { workflowsDir: variable } = this.config.variableNames;
      throw noFolder(follower.folder, this.declared.dir === undefined ? variable : 'workflowsDir');
    }
  }

  /** `WorkflowCheckService` checks the references of workflows at this point, when all targets exist. */
  onApplicationBootstrap(): void {
    this.isUp = true;
    this.follower?.start(this.opened);
  }

  onModuleDestroy(): void {
    this.follower?.stop();
  }

  /** Null without a folder. */
  get state(): FilesState | null {
    if (this.files === null || !this.follower) return null;
    return { files: this.files, broken: this.set.mistakes.size, isReadable: this.follower.isReadable };
  }

  private follow(folder: DefinitionFolder): FolderFollower<FolderWorkflows> {
    const use = {
      read: () => readFolder(folder),
      take: (found: FolderWorkflows) => this.take(found, this.build(found)),
      hasMistakes: () => this.set.mistakes.size > 0,
    };
    return new FolderFollower(folder, use, this.log, 'all workflows are unchanged');
  }

  private build({ readings }: FolderWorkflows): WorkflowSet {
    const ofFiles = new Set([...this.set.workflows.values()].map(({ name }) => name));
    return buildWorkflowSet(readings, this.set.workflows, {
      sourceInCode: (name) => (ofFiles.has(name) ? undefined : this.workflows.sourceOf(name)),
      faults: (workflow) => (this.isUp ? this.faults(workflow) : []),
    });
  }

  private faults({ input, place, describe }: FileWorkflow): string[] {
    try {
      return this.check.missingOf(this.workflows.define(input)).map(describe);
    } catch (error) {
      return [`${place}: ${messageOf(error)}`];
    }
  }

  /** Synchronous, so that readers see no intermediate state. */
  private take(found: FolderWorkflows, set: WorkflowSet): void {
    const before = new Map([...this.set.workflows.values()].map((workflow) => [workflow.name, workflow]));
    const after = new Map([...set.workflows.values()].map((workflow) => [workflow.name, workflow]));
    for (const name of before.keys()) {
      if (after.has(name)) continue;
      this.workflows.unregister(name);
      this.logger.log(`The workflow "${name}" is removed`);
    }
    for (const [name, workflow] of after) {
      const old = before.get(name);
      if (old && canonicalJson(old.input) === canonicalJson(workflow.input)) continue;
      this.workflows.replace(workflow.input, workflow.place);
      this.logger.log(`The workflow "${name}" is ${old ? 'changed' : 'added'}`);
    }
    this.logMistakes(found, set);
    this.set = set;
    this.files = found.readings.size;
  }

  private logMistakes({ readings }: FolderWorkflows, { workflows, mistakes }: WorkflowSet): void {
    for (const file of readings.keys()) {
      const lines = mistakes.get(file);
      const workflow = workflows.get(file);
      const stays = workflow ? `its workflow "${workflow.name}" is unchanged` : 'it defines no workflow';
      if (lines) this.log.logNew(file, lines, stays);
      else this.log.mend(file);
    }
    this.log.forget((file) => readings.has(file) || file === this.follower?.folder.path);
  }
}

async function readFolder(folder: DefinitionFolder): Promise<FolderWorkflows | null> {
  const reading = await folder.read([]);
  if (!reading) return null;
  const readings = [...reading.files].map(([name, text]) => {
    const file = folder.titleOf(name);
    const read = 'fault' in text ? { mistakes: [`${file}: ${text.fault}`] } : readWorkflowText(file, text.text);
    return [file, read] as const;
  });
  return { reading, readings: new Map(readings) };
}

function invalid({ path }: DefinitionFolder, { mistakes }: WorkflowSet): AppError {
  const lines = [...mistakes.values()].flat();
  const count = lines.length === 1 ? 'a mistake' : `${lines.length} mistakes`;
  return new AppError('WORKFLOW_INVALID', [`The workflows' files in ${path} have ${count}:`, ...lines].join('\n  '), {
    details: { mistakes: lines },
  });
}
