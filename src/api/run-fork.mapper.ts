import type { ForkEdit, ForkRequest } from '../agent/index.js';
import { AppError } from '../errors/index.js';
import { fieldMistake, type JsonValue } from '../kernel/index.js';
import type { WorkflowFork } from '../workflow/index.js';
import type { ForkEditDto, ForkRequestDto } from './run-fork.dto.js';

/** Fork request of an agent run. @throws AppError `VALIDATION_FAILED` for a field that only workflows have */
export function toForkRequest({ fromStep, sessionId, edit }: ForkRequestDto): ForkRequest {
  assertNone(edit, ['input', 'output'], 'a workflow');
  return {
    fromStep,
    ...(sessionId !== undefined && { sessionId }),
    // The agent module validates the parts when it builds the definition.
    ...(edit && { edit: edit as ForkEdit }),
  };
}

/** Fork request of a workflow run. @throws AppError `VALIDATION_FAILED` for a field that only agents have */
export function toWorkflowFork({ fromStep, sessionId, edit }: ForkRequestDto): WorkflowFork {
  assertNone(edit, ['message', 'model', 'toolResult', 'agent'], 'an agent');
  return {
    fromStep,
    ...(sessionId !== undefined && { sessionId }),
    ...(edit?.input !== undefined && { input: edit.input }),
    ...(edit?.output !== undefined && { output: edit.output as JsonValue }),
  };
}

function assertNone(edit: ForkEditDto | undefined, fields: readonly (keyof ForkEditDto)[], whose: string): void {
  const field = fields.find((name) => edit?.[name] !== undefined);
  if (field === undefined) return;
  const message = `applies only to a run of ${whose}`;
  throw new AppError('VALIDATION_FAILED', `Invalid fork request: edit.${field} ${message}.`, {
    details: { errors: [fieldMistake(`edit.${field}`, message, 'isOfKind', edit?.[field])] },
  });
}
