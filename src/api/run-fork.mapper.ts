import type { ForkEdit, ForkRequest } from '../agent/index.js';
import { AppError, fieldMistake, type JsonValue } from '../common/index.js';
import type { WorkflowFork } from '../workflow/index.js';
import type { ForkEditDto, ForkRequestDto } from './run-fork.dto.js';

/** The request as the agents take it. @throws AppError `VALIDATION_FAILED` for what only workflows have */
export function toForkRequest({ fromStep, sessionId, edit }: ForkRequestDto): ForkRequest {
  assertNone(edit, ['input', 'output'], 'a workflow');
  return {
    fromStep,
    ...(sessionId !== undefined && { sessionId }),
    // What is in the parts is checked where the definition is made.
    ...(edit && { edit: edit as ForkEdit }),
  };
}

/** The request as the workflows take it. @throws AppError `VALIDATION_FAILED` for what only agents have */
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
  const message = `only a run of ${whose} has it`;
  throw new AppError('VALIDATION_FAILED', `The run cannot be forked so: edit.${field}: ${message}.`, {
    details: { errors: [fieldMistake(`edit.${field}`, message, 'isOfKind', edit?.[field])] },
  });
}
