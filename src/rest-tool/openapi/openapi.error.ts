import { AppError } from '../../errors/index.js';

/** A part of a document that cannot be mapped. @param why the reason, with the remedy if there is one */
export function unmappable(where: string, why: string): AppError {
  return new AppError('TOOL_INVALID', `${where}: ${why}`);
}
