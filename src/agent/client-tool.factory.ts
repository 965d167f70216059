import { AppError } from '../errors/index.js';
import { fieldMistake, type JsonSchema } from '../kernel/index.js';
import { refusedName, suspend, type Tool } from '../tool/index.js';

/** A tool that the client of a request executes: a call of it ends the response, and the client sends its result later. */
export interface ClientTool {
  readonly name: string;
  readonly description?: string;
  /** Default: any object. Only the model reads it; the client checks the arguments. */
  readonly inputSchema?: JsonSchema;
}

/** Time until the run of an unanswered call ends, in ms. */
const EXPIRY_MS = 86_400_000;
const QUESTION = 'The client of the run executes this call and answers with its result.';

/** A client's results are data of the client: untrusted and private. */
export function clientTool({ name, description = '', inputSchema = { type: 'object' } }: ClientTool): Tool {
  return {
    definition: { name, description, inputSchema },
    metadata: {
      effect: 'read',
      source: 'the client',
      egress: false,
      untrusted: true,
      isClient: true,
      isReturnForeign: true,
    },
    validate: (value) => ({ valid: true, value }),
    invoke: (_input, { answer }) => (answer ? answer.value : suspend({ question: QUESTION, expiresInMs: EXPIRY_MS })),
  };
}

/** @throws AppError `VALIDATION_FAILED` for a name that providers reject, and for two tools of the same name */
export function assertClientTools(tools: readonly ClientTool[]): void {
  const names = new Set<string>();
  for (const [at, { name }] of tools.entries()) {
    const fault = refusedName(name) ?? (names.has(name) ? `the name "${name}" is used twice` : undefined);
    names.add(name);
    if (fault === undefined) continue;
    throw new AppError('VALIDATION_FAILED', `The request is not valid: tools.${at}: ${fault}.`, {
      details: { errors: [fieldMistake(`tools.${at}.name`, fault, 'isToolName', name)] },
    });
  }
}
