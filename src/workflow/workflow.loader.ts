import { Injectable, Logger } from '@nestjs/common';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { AppError, messageOf, parseJson } from '../common/index.js';
import { AppConfig } from '../config/index.js';
import type { WorkflowInput } from './definition/workflow.schema.js';
import { WorkflowRegistry } from './workflow.registry.js';

const DEFAULT_DIR = 'config/workflows';
const MAX_FILE_BYTES = 1_048_576;

/** Registers the workflows of files: one in each `*.json` of the folder, by its own name. */
@Injectable()
export class WorkflowLoader {
  private readonly logger = new Logger(WorkflowLoader.name);

  constructor(
    private readonly config: AppConfig,
    private readonly registry: WorkflowRegistry,
  ) {}

  /**
   * @param dir as `WORKFLOWS_DIR` when left out
   * @throws AppError `WORKFLOW_INVALID` that lists every mistake of every file
   */
  load(dir = this.config.workflows.dir): void {
    const mistakes = filesIn(dir).flatMap((path) => {
      try {
        const workflow = readWorkflow(path);
        this.registry.register(workflow as WorkflowInput, path);
        this.logger.log(`Registered workflow: ${workflow.name} (${path})`);
        return [];
      } catch (error) {
        return [messageOf(error)];
      }
    });
    if (mistakes.length > 0) throw new AppError('WORKFLOW_INVALID', mistakes.join('\n'));
  }
}

function filesIn(dir: string | undefined): string[] {
  try {
    const names = readdirSync(dir ?? DEFAULT_DIR).filter((name) => name.endsWith('.json'));
    return names.toSorted().map((name) => join(dir ?? DEFAULT_DIR, name));
  } catch (error) {
    if (dir === undefined && (error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw new AppError('WORKFLOW_INVALID', `The folder of WORKFLOWS_DIR cannot be read: ${messageOf(error)}`);
  }
}

/** @throws AppError `WORKFLOW_INVALID` naming the file */
function readWorkflow(path: string): { readonly name: string } {
  const { size } = statSync(path);
  if (size > MAX_FILE_BYTES) {
    throw new AppError('WORKFLOW_INVALID', `${path} has ${size} bytes; a workflow has ${MAX_FILE_BYTES} at most.`);
  }
  const parsed = parseJson(readFileSync(path, 'utf8'));
  if (!parsed.ok) throw new AppError('WORKFLOW_INVALID', `${path} is not JSON (${parsed.fault.kind}).`);
  return parsed.value as { readonly name: string };
}
