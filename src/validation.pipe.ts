import { ValidationPipe, type ValidationError } from '@nestjs/common';
import { AppError } from './common/index.js';

interface FieldError {
  readonly field: string;
  readonly message: string;
}

/** Checks what comes in over HTTP against its DTO; unknown fields are mistakes, and every mistake is told at once. */
export function createValidationPipe(): ValidationPipe {
  return new ValidationPipe({
    transform: true,
    whitelist: true,
    forbidNonWhitelisted: true,
    forbidUnknownValues: true,
    validationError: { target: false, value: false },
    exceptionFactory: toError,
  });
}

function toError(errors: ValidationError[]): AppError {
  const fields = errors.flatMap((error) => toFieldErrors(error, ''));
  const detail = fields.map(({ message }) => message).join('; ');
  return new AppError('VALIDATION_FAILED', `The request is not valid: ${detail}.`, { details: { errors: fields } });
}

function toFieldErrors({ property, constraints, children }: ValidationError, path: string): FieldError[] {
  const field = `${path}${property}`;
  const own = Object.values(constraints ?? {}).map((message) => ({ field, message: toMessage(field, message) }));
  return [...own, ...(children ?? []).flatMap((child) => toFieldErrors(child, `${field}.`))];
}

function toMessage(field: string, message: string): string {
  return message === `property ${field} should not exist` ? `the field "${field}" is not known` : message;
}
