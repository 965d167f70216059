import { AppError } from '../../../common/index.js';

/** What of a document cannot become a tool: where it stands, why, and what to do if anything. */
export function unmappable(where: string, why: string): AppError {
  return new AppError('TOOL_INVALID', `${where}: ${why}`);
}
