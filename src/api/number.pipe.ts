import { Injectable, type ArgumentMetadata, type PipeTransform } from '@nestjs/common';
import { AppError } from '../errors/index.js';
import { fieldMistake } from '../kernel/index.js';

const MOST = 2_147_483_647;

/** A number in a path, such as a turn's: from 1 to the maximum of a 32-bit column. */
@Injectable()
export class NumberPipe implements PipeTransform<number, number> {
  /** @param number as the global pipe parsed it; `NaN` for other texts. @throws AppError `VALIDATION_FAILED` */
  transform(number: number, { data: field = 'id' }: ArgumentMetadata): number {
    if (Number.isInteger(number) && number >= 1 && number <= MOST) return number;
    const message = `${field} must be a whole number from 1 to ${MOST}`;
    throw new AppError('VALIDATION_FAILED', `The request is not valid: ${message}.`, {
      details: { errors: [fieldMistake(field, message, 'isInt', number)] },
    });
  }
}
