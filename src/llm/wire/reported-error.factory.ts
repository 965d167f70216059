import { type AppError, Log } from '../../errors/index.js';
import { toModelError } from './error.mapper.js';
import type { WireAccess } from './wire-access.types.js';
import { ProviderDetails } from './wire-failure.error.js';

/** Maps an error of a call. Logs the provider's text if the error has only a part of it. */
export function toReportedError(thrown: unknown, access: WireAccess): AppError {
  const error = toModelError(thrown, access);
  if (error.cause instanceof ProviderDetails) {
    const { provider, model } = access;
    const logger = new Log('ModelProvider');
    logger.warn(`The provider ${provider} (model ${model}) sent details with its error: ${error.cause.message}`);
  }
  return error;
}
